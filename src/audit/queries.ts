// SQL of the append-only trail and of findings.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Queries, Transaction } from '../postgres/pool.ts'

export type AuditEntry = {
  account: string
  eventId: string | null
  epoch: number | null
  customerId: string | null
  subscriptionId: string | null
  kind:
    | 'applied'
    | 'no_change'
    | 'ignored'
    | 'discarded'
    | 'superseded'
    | 'deferred'
    | 'quarantined'
    | 'linked'
    | 'unlinked'
    | 'drifted'
    | 'erased'
    | 'woken'
    | 'revived'
    | 'reconciled'
  reason: string | null
  detail: Record<string, unknown> | null
}

/** Adds to the trail. The same (event, epoch, subscription, kind) is recorded once. */
export const insertAudit = (tx: Transaction, entry: AuditEntry) =>
  tx.query(sql.unsafe`
    insert into goodstanding.billing_audit (account, event_id, epoch, customer_id, subscription_id, kind, reason, detail)
    values (${entry.account}, ${entry.eventId}, ${entry.epoch}, ${entry.customerId}, ${entry.subscriptionId},
            ${entry.kind}, ${entry.reason}, ${entry.detail === null ? null : sql.jsonb(entry.detail as never)})
    on conflict do nothing
  `)

/** Opens a finding or notes that it was seen again. Returns true where it is new. */
export const noteFinding = (
  tx: Transaction,
  finding: { account: string; code: string; subject: string; detail: Record<string, unknown> },
) =>
  tx.oneFirst(sql.type(z.strictObject({ new: z.boolean() }))`
    insert into goodstanding.findings as mine (account, code, subject, detail)
    values (${finding.account}, ${finding.code}, ${finding.subject}, ${sql.jsonb(finding.detail as never)})
    on conflict (account, code, subject) where resolved_at is null do update
      set last_seen_at = goodstanding.clock(),
          seen = mine.seen + 1,
          detail = excluded.detail
    returning seen = 1 as new
  `)

/** Closes an open finding. True where there was one. */
export const resolveFinding = async (
  tx: Transaction,
  input: { account: string; code: string; subject: string; by: string },
): Promise<boolean> =>
  (
    await tx.query(sql.unsafe`
    update goodstanding.findings
    set resolved_at = goodstanding.clock(),
        resolved_by = ${input.by}
    where account = ${input.account}
      and code = ${input.code}
      and subject = ${input.subject}
      and resolved_at is null
  `)
  ).rowCount === 1

/** Closes what a link has settled: open findings about customers that belong to a tenant now. */
export const resolveLinked = (db: Queries, input: { account: string; code: string; by: string }) =>
  db.query(sql.unsafe`
    update goodstanding.findings finding
    set resolved_at = goodstanding.clock(),
        resolved_by = ${input.by}
    from goodstanding.customers customer
    where finding.account = ${input.account}
      and finding.code = ${input.code}
      and finding.resolved_at is null
      and customer.account = finding.account
      and customer.customer_id = finding.subject
      and customer.tenant_id is not null
  `)

export const hasOpenFinding = (db: Queries, input: { account: string; code: string; subject: string }) =>
  db.oneFirst(sql.type(z.strictObject({ open: z.boolean() }))`
    select exists (
      select 1
      from goodstanding.findings
      where account = ${input.account}
        and code = ${input.code}
        and subject = ${input.subject}
        and resolved_at is null
    ) as open
  `)

/** Open findings of a code that came up within a time, for "several customers at once". */
export const countRecentFindings = (
  db: Queries,
  input: { account: string; code: string; withinMs: number },
) =>
  db.oneFirst(sql.type(z.strictObject({ count: z.number() }))`
    select count(*)::int as count
    from goodstanding.findings
    where account = ${input.account}
      and code = ${input.code}
      and resolved_at is null
      and first_seen_at > goodstanding.clock() - ${input.withinMs}::float8 * interval '1 millisecond'
  `)

/** Records what a person did. */
export const insertOperatorAction = (
  tx: Transaction,
  action: {
    operator: string
    reason: string
    verb: string
    target: string
    before: Record<string, unknown> | null
    after: Record<string, unknown> | null
  },
) =>
  tx.query(sql.unsafe`
    insert into goodstanding.operator_actions (operator, reason, verb, target, before, after)
    values (${action.operator}, ${action.reason}, ${action.verb}, ${action.target},
            ${action.before === null ? null : sql.jsonb(action.before as never)},
            ${action.after === null ? null : sql.jsonb(action.after as never)})
  `)
