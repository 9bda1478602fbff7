// SQL of the entitlement rows, their history, and the catalog in force.
import { sql } from 'slonik'
import { z } from 'zod'
import type { CustomerKey } from '../customers/queries.ts'
import type { Queries, Transaction } from '../postgres/pool.ts'
import { toIso } from '../time.ts'
import { ACCESS_STATES, type Because, type Entitlement } from './model.ts'

const at = z.number().nullable()
const value = z.union([z.boolean(), z.number(), z.string()])

const entitlementRow = sql.type(
  z.strictObject({
    feature: z.string(),
    value,
    subscription_id: z.string(),
    item_id: z.string(),
    plan: z.string(),
    rank: z.number(),
    state: z.enum(ACCESS_STATES),
    granted: z.boolean(),
    from_at: at,
    final_at: at,
    recheck_at: at,
    because: z.custom<Because>((because) => typeof because === 'object' && because !== null),
  }),
)

/** The rows that come from a customer. */
export const loadEntitlements = async (
  db: Queries,
  { account, customerId }: CustomerKey,
): Promise<Entitlement[]> => {
  const rows = await db.any(entitlementRow`
    select feature, value, subscription_id, item_id, plan, rank, state, granted, from_at, final_at, recheck_at, because
    from goodstanding.entitlements
    where account = ${account}
      and customer_id = ${customerId}
    order by item_id, feature
  `)
  return rows.map((row) => ({
    feature: row.feature,
    value: row.value,
    subscriptionId: row.subscription_id,
    itemId: row.item_id,
    plan: row.plan,
    rank: row.rank,
    state: row.state,
    granted: row.granted,
    from: row.from_at,
    finalAt: row.final_at,
    recheckAt: row.recheck_at,
    because: row.because,
  }))
}

/** Inserts or replaces rows of a customer. */
export const putEntitlements = async (
  tx: Transaction,
  input: CustomerKey & { tenantId: string; staleGraceHours: number; rows: readonly Entitlement[] },
) => {
  if (input.rows.length === 0) return
  await tx.query(sql.unsafe`
    insert into goodstanding.entitlements
      (account, customer_id, tenant_id, subscription_id, item_id, feature, value, plan, rank, state, granted, from_at,
       final_at, recheck_at, stale_grace, because)
    select ${input.account}, ${input.customerId}, ${input.tenantId}, subscription_id, item_id, feature, value, plan,
      rank, state, granted, from_at, final_at, recheck_at, ${input.staleGraceHours}::float8 * interval '1 hour', because
    from jsonb_to_recordset(${sql.jsonb(input.rows.map(record))}) as desired (
      subscription_id text, item_id text, feature text, value jsonb, plan text, rank integer, state text,
      granted boolean, from_at timestamptz, final_at timestamptz, recheck_at timestamptz, because jsonb)
    on conflict (account, item_id, feature) do update
      set customer_id = excluded.customer_id,
          tenant_id = excluded.tenant_id,
          subscription_id = excluded.subscription_id,
          value = excluded.value,
          plan = excluded.plan,
          rank = excluded.rank,
          state = excluded.state,
          granted = excluded.granted,
          from_at = excluded.from_at,
          final_at = excluded.final_at,
          recheck_at = excluded.recheck_at,
          stale_grace = excluded.stale_grace,
          because = excluded.because,
          updated_at = goodstanding.clock()
  `)
}

/** How long a customer's rows are borne past their recheck end, as the catalog says it now. Writes only what differs. */
export const keepStaleGrace = (tx: Transaction, input: CustomerKey & { staleGraceHours: number }) =>
  tx.query(sql.unsafe`
    update goodstanding.entitlements
    set stale_grace = ${input.staleGraceHours}::float8 * interval '1 hour'
    where account = ${input.account}
      and customer_id = ${input.customerId}
      and stale_grace <> ${input.staleGraceHours}::float8 * interval '1 hour'
  `)

const record = (row: Entitlement) => ({
  subscription_id: row.subscriptionId,
  item_id: row.itemId,
  feature: row.feature,
  value: row.value,
  plan: row.plan,
  rank: row.rank,
  state: row.state,
  granted: row.granted,
  from_at: toIso(row.from),
  final_at: toIso(row.finalAt),
  recheck_at: toIso(row.recheckAt),
  because: row.because,
})

export const removeEntitlements = async (
  tx: Transaction,
  { account, customerId }: CustomerKey,
  rows: readonly { itemId: string; feature: string }[],
) => {
  if (rows.length === 0) return
  await tx.query(sql.unsafe`
    delete from goodstanding.entitlements mine
    using ${sql.unnest(
      rows.map((row) => [row.itemId, row.feature]),
      ['text', 'text'],
    )} as gone (item_id, feature)
    where mine.account = ${account}
      and mine.customer_id = ${customerId}
      and mine.item_id = gone.item_id
      and mine.feature = gone.feature
  `)
}

export type Change = {
  change: 'added' | 'changed' | 'removed'
  itemId: string
  feature: string
  before: Entitlement | null
  after: Entitlement | null
}

/** Adds to the history: what was believed until now and what from now on. */
export const insertHistory = async (
  tx: Transaction,
  input: CustomerKey & { tenantId: string; cause: string; changes: readonly Change[] },
) => {
  if (input.changes.length === 0) return
  await tx.query(sql.unsafe`
    insert into goodstanding.entitlement_history
      (tenant_id, account, customer_id, item_id, feature, change, before, after, valid_from, cause)
    select ${input.tenantId}, ${input.account}, ${input.customerId}, item_id, feature, change, before, after,
      goodstanding.clock(), ${input.cause}
    from jsonb_to_recordset(${sql.jsonb(
      input.changes.map(({ change, itemId, feature, before, after }) => ({
        change,
        item_id: itemId,
        feature,
        before: before === null ? null : record(before),
        after: after === null ? null : record(after),
      })) as never,
    )}) as entry (item_id text, feature text, change text, before jsonb, after jsonb)
  `)
}
