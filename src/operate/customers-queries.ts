// SQL of customers as operators see them: what happened to one, which are linked to nobody, which prices no plan names.
import { sql } from 'slonik'
import { z } from 'zod'
import type { CustomerKey } from '../customers/queries.ts'
import type { Queries, Transaction } from '../postgres/pool.ts'

const at = z.number().nullable()
const text = z.string().nullable()

const timelineRow = sql.type(
  z.strictObject({ at: z.number(), what: z.string(), subject: text, detail: text }),
)

/** What happened to a customer, newest first: events, attempts, audit, changes of entitlements, what people did. */
export const timelineOf = (
  db: Queries,
  { account, customerId, limit, tenantId }: CustomerKey & { limit: number; tenantId: string | null },
) =>
  db.any(timelineRow`
    select timeline.at, timeline.what, timeline.subject, timeline.detail
    from (
      select received_at as at, 'received' as what, event_id as subject, type || ' x' || deliveries as detail
      from goodstanding.billing_events
      where account = ${account}
        and customer_id = ${customerId}
      union all
      select attempt.finished_at, 'attempt ' || attempt.outcome, attempt.event_id,
        concat_ws(' ', 'life ' || attempt.epoch, attempt.code)
      from goodstanding.event_attempts attempt
      join goodstanding.billing_events event
        on event.account = attempt.account
        and event.event_id = attempt.event_id
      where event.account = ${account}
        and event.customer_id = ${customerId}
      union all
      select audit.at, 'audit ' || audit.kind, coalesce(audit.event_id, audit.customer_id),
        concat_ws(' ', audit.reason, audit.subscription_id)
      from goodstanding.billing_audit audit
      where audit.account = ${account}
        and audit.customer_id = ${customerId}
      union all
      select history.recorded_at, 'entitlement ' || history.change, history.feature,
        concat_ws(' ', history.item_id, coalesce(history.after, history.before) ->> 'state', 'by ' || history.cause)
      from goodstanding.entitlement_history history
      where history.account = ${account}
        and history.customer_id = ${customerId}
      union all
      select action.at, 'operator ' || action.verb, action.target, action.operator || ': ' || action.reason
      from goodstanding.operator_actions action
      where action.target in (${`${account} ${customerId}`}, ${tenantId})
        or action.target in (
          select event.account || ' ' || event.event_id
          from goodstanding.billing_events event
          where event.account = ${account}
            and event.customer_id = ${customerId}
        )
    ) timeline
    order by timeline.at desc, timeline.what
    limit ${limit}
  `)

const unlinkedRow = sql.type(
  z.strictObject({
    account: z.string(),
    customer_id: z.string(),
    since: z.number(),
    waiting: z.number(),
    dead: z.number(),
    live_at_stripe: z.boolean(),
  }),
)

/** Customers of no tenant for whom something waits or died, or who have a live subscription, the oldest first. */
export const findUnlinked = (db: Queries, input: { account?: string | undefined; limit: number }) =>
  db.any(unlinkedRow`
    select customer.account, customer.customer_id, customer.created_at as since,
      coalesce(events.waiting, 0)::int as waiting, coalesce(events.dead, 0)::int as dead,
      finding.subject is not null as live_at_stripe
    from goodstanding.customers customer
    left join (
      select account, customer_id,
        count(*) filter (where dead_letter_at is null) as waiting,
        count(*) filter (where dead_letter_at is not null) as dead
      from (
        select * from goodstanding.billing_events where processed_at is null and dead_letter_at is null
        union all
        select * from goodstanding.billing_events where dead_letter_at is not null
      ) stopped
      where reason = 'customer_not_linked'
      group by account, customer_id
    ) events using (account, customer_id)
    left join goodstanding.findings finding
      on finding.account = customer.account
      and finding.code = 'live_without_tenant'
      and finding.subject = customer.customer_id
      and finding.resolved_at is null
    where customer.tenant_id is null
      and customer.account = coalesce(${input.account ?? null}, customer.account)
      and (events.customer_id is not null or finding.subject is not null)
    order by customer.created_at
    limit ${input.limit}
  `)

const priceRow = sql.type(
  z.strictObject({
    account: z.string(),
    id: z.string(),
    priceId: z.string(),
    lookupKey: text,
    productId: text,
    mapped: text,
    customers: z.number(),
    example: z.string(),
  }),
)

/** Every price of a live subscription with how many customers have it; `mapped`: the plan remembered for it. */
export const livePrices = (db: Queries) =>
  db.any(priceRow`
    select item.account, min(item.item_id) as id, item.price_id as "priceId", min(item.lookup_key) as "lookupKey",
      min(item.product_id) as "productId", min(mapping.plan) as mapped,
      count(distinct subscription.customer_id)::int as customers, min(subscription.customer_id) as example
    from goodstanding.subscription_items item
    join goodstanding.subscriptions subscription using (account, subscription_id)
    left join goodstanding.price_mappings mapping
      on mapping.account = item.account
      and mapping.price_id = item.price_id
    where item.removed_at is null
      and subscription.status not in ('canceled', 'incomplete_expired')
    group by item.account, item.price_id
    order by count(distinct subscription.customer_id) desc, item.price_id
  `)

const blockedRow = sql.type(
  z.strictObject({
    account: z.string(),
    price_ids: text,
    waiting: z.number(),
    dead: z.number(),
    example: z.string(),
  }),
)

/** Events that wait for, or died of, a price that no plan names, by the prices that they named. */
export const blockedByPrice = (db: Queries) =>
  db.any(blockedRow`
    select account, last_error as price_ids,
      count(*) filter (where dead_letter_at is null)::int as waiting,
      count(*) filter (where dead_letter_at is not null)::int as dead,
      min(event_id) as example
    from (
      select * from goodstanding.billing_events where processed_at is null and dead_letter_at is null
      union all
      select * from goodstanding.billing_events where dead_letter_at is not null
    ) stopped
    where reason = 'unmapped_stripe_price'
    group by account, last_error
    order by count(*) desc
  `)

const invoiceRow = sql.type(
  z.strictObject({
    invoice_id: z.string(),
    subscription_id: text,
    status: z.string(),
    amount_remaining: z.number(),
    currency: text,
    due_at: at,
    updated_at: z.number(),
  }),
)

/** The newest invoices of a customer. */
export const invoicesOf = (db: Queries, { account, customerId }: CustomerKey) =>
  db.any(invoiceRow`
    select invoice_id, subscription_id, status, amount_remaining, currency, due_at, updated_at
    from goodstanding.invoices
    where account = ${account}
      and customer_id = ${customerId}
    order by coalesce(stripe_created_at, updated_at) desc
    limit 10
  `)

const moneyBackRow = sql.type(
  z.strictObject({
    kind: z.string(),
    id: z.string(),
    invoice_id: text,
    amount: z.number().nullable(),
    currency: text,
    status: text,
    at,
  }),
)

/** Refunds and disputes of a customer, newest first. */
export const moneyBackOf = (db: Queries, { account, customerId }: CustomerKey) =>
  db.any(moneyBackRow`
    select 'refund' as kind, refund_id as id, invoice_id, amount, currency, status, stripe_created_at as at
    from goodstanding.refunds
    where account = ${account}
      and customer_id = ${customerId}
    union all
    select 'dispute', dispute_id, invoice_id, amount, currency, status, stripe_created_at
    from goodstanding.disputes
    where account = ${account}
      and customer_id = ${customerId}
    order by at desc nulls last
    limit 20
  `)

/** Which tenant a customer belonged to; it belongs to none now. Null where it belonged to none. */
export const unbindCustomer = (tx: Transaction, { account, customerId }: CustomerKey) =>
  tx.maybeOneFirst(sql.type(z.strictObject({ tenant_id: z.string() }))`
    update goodstanding.customers mine
    set tenant_id = null,
        linked_by = null,
        linked_at = null,
        taken_from = old.tenant_id,
        catalog_hash = null,
        recheck_at = null
    from goodstanding.customers old
    where mine.account = ${account}
      and mine.customer_id = ${customerId}
      and mine.tenant_id is not null
      and old.account = mine.account
      and old.customer_id = mine.customer_id
    returning old.tenant_id
  `)

/** The rows of a customer give to another tenant from now on. */
export const moveEntitlements = (tx: Transaction, input: CustomerKey & { tenantId: string }) =>
  tx.query(sql.unsafe`
    update goodstanding.entitlements
    set tenant_id = ${input.tenantId},
        updated_at = goodstanding.clock()
    where account = ${input.account}
      and customer_id = ${input.customerId}
  `)

/** Numbers of the last reads of customers; 0 where none was. */
export const findReadTickets = (db: Queries, customers: readonly { account: string; customer: string }[]) =>
  db.anyFirst(sql.type(z.strictObject({ ticket: z.number() }))`
    select coalesce(known.read_ticket, 0) as ticket
    from ${sql.unnest(
      customers.map(({ account, customer }) => [account, customer]),
      ['text', 'text'],
    )} as asked (account, customer_id)
    left join goodstanding.customers known using (account, customer_id)
  `)
