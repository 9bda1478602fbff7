// SQL of what people decide beside Stripe: grants and denials, holds of revocations, findings that were seen.
import { sql } from 'slonik'
import { z } from 'zod'
import type { FeatureValue } from '../entitlements/model.ts'
import type { Queries, Transaction } from '../postgres/pool.ts'

const at = z.number().nullable()
const value = z.union([z.boolean(), z.number(), z.string()])

const overrideRow = sql.type(
  z.strictObject({
    override_id: z.number(),
    tenant_id: z.string(),
    feature: z.string(),
    effect: z.enum(['allow', 'deny']),
    value: value.nullable(),
    from_at: z.number(),
    until_at: at,
    permanent: z.boolean(),
    operator: z.string(),
    reason: z.string(),
    revoked_at: at,
    in_force: z.boolean(),
  }),
)

const overrideColumns = sql.fragment`
  override_id, tenant_id, feature, effect, value, from_at, until_at, permanent, operator, reason, revoked_at,
  revoked_at is null and from_at <= goodstanding.clock() and coalesce(until_at > goodstanding.clock(), true) as in_force`

/** Grants and denials by hand, newest first; of one tenant, or of all those in force. */
export const listOverrides = (
  db: Queries,
  input: { tenant?: string | undefined; all: boolean; limit: number },
) =>
  db.any(overrideRow`
    select ${overrideColumns}
    from goodstanding.entitlement_overrides
    where tenant_id = coalesce(${input.tenant ?? null}, tenant_id)
      and (${input.all} or (revoked_at is null and coalesce(until_at > goodstanding.clock(), true)))
    order by override_id desc
    limit ${input.limit}
  `)

export type Override = Awaited<ReturnType<typeof listOverrides>>[number]

/** Adds one; `until` null: permanent. */
export const insertOverride = (
  tx: Transaction,
  input: {
    tenantId: string
    feature: string
    effect: 'allow' | 'deny'
    value: FeatureValue | null
    until: string | null
    operator: string
    reason: string
  },
) =>
  tx.one(overrideRow`
    insert into goodstanding.entitlement_overrides
      (tenant_id, feature, effect, value, until_at, permanent, operator, reason)
    values (${input.tenantId}, ${input.feature}, ${input.effect},
            ${input.value === null ? null : JSON.stringify(input.value)}::jsonb,
            ${input.until}::timestamptz, ${input.until === null}, ${input.operator}, ${input.reason})
    returning ${overrideColumns}
  `)

/** Ends one now. Null where there is none that runs. */
export const revokeOverride = (tx: Transaction, overrideId: number) =>
  tx.maybeOne(overrideRow`
    update goodstanding.entitlement_overrides
    set revoked_at = goodstanding.clock()
    where override_id = ${overrideId}
      and revoked_at is null
      and coalesce(until_at > goodstanding.clock(), true)
    returning ${overrideColumns}
  `)

const holdRow = sql.type(
  z.strictObject({
    hold_id: z.number(),
    account: z.string().nullable(),
    from_at: z.number(),
    until_at: z.number(),
    operator: z.string(),
    reason: z.string(),
  }),
)

const holdColumns = sql.fragment`hold_id, account, from_at, until_at, operator, reason`

/** Holds of revocations that are in force. */
export const listHolds = (db: Queries) =>
  db.any(holdRow`
    select ${holdColumns}
    from goodstanding.revocation_holds
    where ended_at is null
      and until_at > goodstanding.clock()
    order by until_at
  `)

/** Begins a hold, or moves the end of the one that is in force: a second one would forget what the first has kept. */
export const holdRevocations = async (
  tx: Transaction,
  input: { account: string | null; until: string; operator: string; reason: string },
) => {
  const moved = await tx.maybeOne(holdRow`
    update goodstanding.revocation_holds
    set until_at = ${input.until}::timestamptz,
        operator = ${input.operator},
        reason = ${input.reason}
    where ended_at is null
      and until_at > goodstanding.clock()
      and account is not distinct from ${input.account}
    returning ${holdColumns}
  `)
  return (
    moved ??
    tx.one(holdRow`
      insert into goodstanding.revocation_holds (account, until_at, operator, reason)
      values (${input.account}, ${input.until}::timestamptz, ${input.operator}, ${input.reason})
      returning ${holdColumns}
    `)
  )
}

/** Ends the hold of an account (null: of all) now. False where there is none. */
export const endRevocationHold = async (tx: Transaction, account: string | null): Promise<boolean> =>
  (
    await tx.query(sql.unsafe`
    update goodstanding.revocation_holds
    set ended_at = goodstanding.clock()
    where ended_at is null
      and until_at > goodstanding.clock()
      and account is not distinct from ${account}
  `)
  ).rowCount > 0

const findingRow = sql.type(
  z.strictObject({
    finding_id: z.number(),
    account: z.string(),
    code: z.string(),
    subject: z.string(),
    detail: z.record(z.string(), z.unknown()),
    first_seen_at: z.number(),
    last_seen_at: z.number(),
    seen: z.number(),
    acked_by: z.string().nullable(),
    resolved_at: at,
    resolved_by: z.string().nullable(),
  }),
)

const findingColumns = sql.fragment`
  finding_id, account, code, subject, detail, first_seen_at, last_seen_at, seen, acked_by, resolved_at, resolved_by`

/** Findings, last seen first; open ones unless `all`. */
export const listFindings = (
  db: Queries,
  input: {
    account?: string | undefined
    code?: string | undefined
    subjects?: readonly string[] | undefined
    all: boolean
    limit: number
  },
) =>
  db.any(findingRow`
    select ${findingColumns}
    from goodstanding.findings
    where account = coalesce(${input.account ?? null}, account)
      and code = coalesce(${input.code ?? null}, code)
      and (${input.subjects === undefined} or subject = any(${sql.array([...(input.subjects ?? [])], 'text')}))
      and (${input.all} or resolved_at is null)
    order by last_seen_at desc, finding_id desc
    limit ${input.limit}
  `)

export type ShownFinding = Awaited<ReturnType<typeof listFindings>>[number]

/** A person has seen an open finding. Null where there is no such. */
export const ackFinding = (tx: Transaction, input: { findingId: number; operator: string }) =>
  tx.maybeOne(findingRow`
    update goodstanding.findings
    set acked_at = goodstanding.clock(),
        acked_by = ${input.operator}
    where finding_id = ${input.findingId}
      and resolved_at is null
    returning ${findingColumns}
  `)
