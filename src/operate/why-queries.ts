// SQL of the evidence for one tenant and one feature.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Queries } from '../postgres/pool.ts'

const at = z.number().nullable()
const text = z.string().nullable()
const value = z.union([z.boolean(), z.number(), z.string()])
const facts = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))

const customerRow = sql.type(
  z.strictObject({
    account: z.string(),
    customer_id: z.string(),
    tenant_id: text,
    linked_by: text,
    linked_at: at,
    deleted: z.boolean(),
    read_at: at,
    evidence_at: at,
    recheck_at: at,
    test_clock_at: at,
    failures: z.number(),
    account_state: z.string(),
    pending: z.number(),
    dead: z.number(),
    newest: z
      .strictObject({ eventId: z.string(), type: z.string(), status: z.string(), reason: text })
      .nullable(),
  }),
)

/** The customers of a tenant, or the one of that id (several where accounts share it), with what their events say. */
export const findCustomers = (db: Queries, input: { whom: string; account?: string | undefined }) =>
  db.any(customerRow`
    select customer.account, customer.customer_id, customer.tenant_id, customer.linked_by, customer.linked_at,
      customer.deleted, customer.read_at, customer.evidence_at, customer.recheck_at, customer.test_clock_at,
      customer.failures,
      case when account.hold then 'hold' else coalesce(account.pause_cause, 'runs') end as account_state,
      events.pending, events.dead, newest.newest
    from goodstanding.customers customer
    left join goodstanding.accounts account on account.account = customer.account
    cross join lateral (
      select
        count(*) filter (where event.dead_letter_at is null)::int as pending,
        count(*) filter (where event.dead_letter_at is not null)::int as dead
      from goodstanding.billing_events event
      where event.account = customer.account
        and event.customer_id = customer.customer_id
        and event.processed_at is null
    ) events
    left join lateral (
      select jsonb_build_object(
        'eventId', event.event_id,
        'type', event.type,
        'status', case
          when event.processed_at is not null then 'processed'
          when event.dead_letter_at is not null then 'dead'
          else 'pending'
        end,
        'reason', event.reason
      ) as newest
      from goodstanding.billing_events event
      where event.account = customer.account
        and event.customer_id = customer.customer_id
      order by event.received_seq desc
      limit 1
    ) newest on true
    where (customer.tenant_id = ${input.whom} or customer.customer_id = ${input.whom})
      and customer.account = coalesce(${input.account ?? null}, customer.account)
    order by customer.account, customer.customer_id
  `)

export type ShownCustomer = Awaited<ReturnType<typeof findCustomers>>[number]

const sourceRow = sql.type(
  z.strictObject({
    account: z.string(),
    customer_id: z.string(),
    subscription_id: z.string(),
    item_id: z.string(),
    feature: z.string(),
    value,
    plan: z.string(),
    state: z.string(),
    granted: z.boolean(),
    stale: z.boolean(),
    held: z.boolean(),
    from_at: at,
    final_at: at,
    recheck_at: at,
    stale_until: at,
    because: facts,
  }),
)

/** Everything that each item gives or no longer gives, as it is at this moment; of a tenant or a customer. */
export const findSources = (db: Queries, input: { tenant?: string; account?: string; customer?: string }) =>
  db.any(sourceRow`
    select account, customer_id, subscription_id, item_id, feature, value, plan, state, granted, stale, held, from_at,
      final_at, recheck_at, stale_until, because
    from goodstanding.entitlement_sources
    where ${
      input.tenant === undefined
        ? sql.fragment`account = ${input.account ?? ''} and customer_id = ${input.customer ?? ''}`
        : sql.fragment`tenant_id = ${input.tenant}`
    }
    order by account, customer_id, subscription_id, item_id, feature
  `)

const overrideRow = sql.type(
  z.strictObject({
    override_id: z.number(),
    effect: z.enum(['allow', 'deny']),
    value: value.nullable(),
    until_at: at,
    operator: z.string(),
    reason: z.string(),
  }),
)

/** Grants and denials of a feature that were in force at a time, the one that counts first. */
export const findOverrides = (db: Queries, input: { tenant: string; feature: string; at: string | null }) =>
  db.any(overrideRow`
    select override_id, effect, value, until_at, operator, reason
    from goodstanding.entitlement_overrides
    cross join (select coalesce(${input.at}::timestamptz, goodstanding.clock()) as at) moment
    where tenant_id = ${input.tenant}
      and feature = ${input.feature}
      and from_at <= moment.at
      and coalesce(until_at > moment.at, true)
      and coalesce(revoked_at > moment.at, true)
    order by effect desc, override_id desc
  `)

const catalogRow = sql.type(z.strictObject({ catalog_hash: z.string(), body: z.unknown() }))

/** The catalog that was in force at a time (by when each was last activated); null where none was. */
export const findCatalogAt = (db: Queries, at: string | null) =>
  db.maybeOne(catalogRow`
    select catalog_hash, body
    from goodstanding.catalogs
    where first_seen_at <= coalesce(${at}::timestamptz, goodstanding.clock())
    order by activated_at <= coalesce(${at}::timestamptz, goodstanding.clock()) desc, activated_at desc
    limit 1
  `)

const believedRow = sql.type(
  z.strictObject({
    account: z.string(),
    customer_id: z.string(),
    item_id: z.string(),
    feature: z.string(),
    after: z.record(z.string(), z.unknown()).nullable(),
    recorded_at: z.number(),
    cause: z.string(),
  }),
)

/** What was believed of each item at a time: the last change that had been recorded by then. */
export const findBelieved = (db: Queries, input: { tenant: string; at: string }) =>
  db.any(believedRow`
    select distinct on (account, item_id, feature) account, customer_id, item_id, feature, after, recorded_at, cause
    from goodstanding.entitlement_history
    where tenant_id = ${input.tenant}
      and recorded_at <= ${input.at}::timestamptz
    order by account, item_id, feature, recorded_at desc, history_id desc
  `)

/** Is there such a tenant? */
export const hasTenant = (db: Queries, tenant: string) =>
  db.oneFirst(sql.type(z.strictObject({ known: z.boolean() }))`
    select exists (select 1 from goodstanding.tenants where tenant_id = ${tenant}) as known
  `)
