// SQL of the entitlement rows, their history, and the catalog in force.
import { sql } from 'slonik'
import { z } from 'zod'
import type { CustomerKey } from '../customers/queries.ts'
import type { Queries, Transaction } from '../postgres/pool.ts'
import { toIso, type Instant } from '../time.ts'
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
  /** Since when it holds; now where nothing is said. */
  validFrom?: Instant | null
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
      coalesce(valid_from, goodstanding.clock()), ${input.cause}
    from jsonb_to_recordset(${sql.jsonb(
      input.changes.map(({ change, itemId, feature, before, after, validFrom }) => ({
        change,
        valid_from: toIso(validFrom ?? null),
        item_id: itemId,
        feature,
        before: before === null ? null : record(before),
        after: after === null ? null : record(after),
      })) as never,
    )}) as entry (
      item_id text, feature text, change text, before jsonb, after jsonb, valid_from timestamptz)
  `)
}

/** Does an operator hold revocations of the account just now? */
export const findRevocationHold = (db: Queries, account: string) =>
  db.oneFirst(sql.type(z.strictObject({ held: z.boolean() }))`
    select exists (
      select 1
      from goodstanding.revocation_holds
      where ended_at is null
        and until_at > goodstanding.clock()
        and coalesce(account, ${account}) = ${account}
    ) as held
  `)

/** Customers of an account of whom a final end has passed and is not recorded yet. */
export const findPassed = (db: Queries, input: { account: string; limit: number }) =>
  db.any(sql.type(z.strictObject({ customer_id: z.string(), tenant_id: z.string(), now: z.number() }))`
    select distinct entitlement.customer_id, entitlement.tenant_id, goodstanding.clock() as now
    from goodstanding.entitlements entitlement
    join goodstanding.customers customer
      on customer.account = entitlement.account
      and customer.customer_id = entitlement.customer_id
    where entitlement.account = ${input.account}
      and entitlement.granted
      and entitlement.final_at <= goodstanding.clock()
      and customer.test_clock_at is null
    limit ${input.limit}
  `)

/** Customers whose loss was held back, of an account whose hold is over; each is taken once in ten minutes. */
export const takeHeldBack = (tx: Transaction, input: { account: string; limit: number }) =>
  tx.anyFirst(sql.type(z.strictObject({ customer_id: z.string() }))`
    update goodstanding.customers
    set recheck_queued_at = clock_timestamp()
    where account = ${input.account}
      and customer_id in (
        select subject
        from goodstanding.findings
        where account = ${input.account}
          and code = 'revocation_held'
          and resolved_at is null
        limit ${input.limit}
      )
      and (recheck_queued_at is null or recheck_queued_at < clock_timestamp() - interval '10 minutes')
    returning customer_id
  `)

/** Rows that have ended by time: state, why, and nothing else. */
export const putEndedRows = (tx: Transaction, { account }: CustomerKey, rows: readonly Entitlement[]) =>
  tx.query(sql.unsafe`
    update goodstanding.entitlements mine
    set state = over.state,
        granted = false,
        recheck_at = null,
        because = over.because,
        updated_at = goodstanding.clock()
    from jsonb_to_recordset(${sql.jsonb(rows.map(record))}) as over (
      item_id text, feature text, state text, because jsonb)
    where mine.account = ${account}
      and mine.item_id = over.item_id
      and mine.feature = over.feature
      and mine.granted
  `)
