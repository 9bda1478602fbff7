// SQL of subscriptions and their items, as Stripe last said. Called under the customer's lock.
import { sql, type FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import type { Queries, Transaction } from '../postgres/pool.ts'
import type { CustomerKey } from '../customers/queries.ts'
import type { Item, Subscription } from './model.ts'
import { toIso } from '../time.ts'

const at = z.number().nullable()
const text = z.string().nullable()

const itemColumns = z.strictObject({
  id: z.string(),
  priceId: z.string(),
  lookupKey: text,
  productId: text,
  quantity: z.number().nullable(),
  metered: z.boolean(),
  periodStart: at,
  periodEnd: at,
})

const subscriptionRow = sql.type(
  z.strictObject({
    subscription_id: z.string(),
    customer_id: z.string(),
    status: z.string(),
    status_detail: text,
    started_at: at,
    cancel_at: at,
    cancel_at_period_end: z.boolean(),
    canceled_at: at,
    ended_at: at,
    trial_end: at,
    pause_behavior: text,
    pause_resumes_at: at,
    paused_until: at,
    collection: z.enum(['charge_automatically', 'send_invoice']),
    tenant_hint: text,
    unpaid_invoice_id: text,
    unpaid_since: at,
    items: z.array(itemColumns),
  }),
)

/** The subscriptions of a customer as they were last read, memory included, oldest id first. */
export const loadSubscriptions = (
  db: Queries,
  { account, customerId }: CustomerKey,
): Promise<Subscription[]> =>
  loadWhere(db, sql.fragment`account = ${account} and customer_id = ${customerId}`)

/** Subscriptions by their ids, as last read. */
export const loadSubscriptionsById = (
  db: Queries,
  { account, ids }: { account: string; ids: readonly string[] },
): Promise<Subscription[]> =>
  loadWhere(db, sql.fragment`account = ${account} and subscription_id = any(${sql.array([...ids], 'text')})`)

const loadWhere = async (db: Queries, condition: FragmentSqlToken): Promise<Subscription[]> => {
  const rows = await db.any(subscriptionRow`
    select subscription_id, customer_id, status, status_detail, started_at, cancel_at, cancel_at_period_end,
      canceled_at, ended_at, trial_end, pause_behavior, pause_resumes_at, paused_until, collection, tenant_hint,
      unpaid_invoice_id, unpaid_since,
      coalesce((
        select json_agg(json_build_object(
          'id', item_id,
          'priceId', price_id,
          'lookupKey', lookup_key,
          'productId', product_id,
          'quantity', quantity,
          'metered', metered,
          'periodStart', (extract(epoch from period_start) * 1000)::float8,
          'periodEnd', (extract(epoch from period_end) * 1000)::float8
        ) order by position)
        from goodstanding.subscription_items item
        where item.account = subscription.account
          and item.subscription_id = subscription.subscription_id
          and item.removed_at is null
      ), '[]'::json) as items
    from goodstanding.subscriptions subscription
    where ${condition}
    order by subscription_id
  `)
  return rows.map((row) => ({
    id: row.subscription_id,
    customerId: row.customer_id,
    status: row.status,
    startedAt: row.started_at,
    cancelAt: row.cancel_at,
    cancelAtPeriodEnd: row.cancel_at_period_end,
    canceledAt: row.canceled_at,
    endedAt: row.ended_at,
    trialEnd: row.trial_end,
    pause:
      row.pause_behavior === null ? null : { behavior: row.pause_behavior, resumesAt: row.pause_resumes_at },
    statusDetail: row.status_detail,
    collection: row.collection,
    tenantId: row.tenant_hint,
    items: row.items,
    unpaid: row.unpaid_since === null ? null : { invoiceId: row.unpaid_invoice_id, since: row.unpaid_since },
    pausedUntil: row.paused_until,
  }))
}

/** Writes subscriptions and their items as read; items that are gone are marked removed. */
export const saveSubscriptions = async (
  tx: Transaction,
  account: string,
  subscriptions: readonly Subscription[],
) => {
  if (subscriptions.length === 0) return
  await tx.query(sql.unsafe`
    insert into goodstanding.subscriptions as mine
      (account, subscription_id, customer_id, status, status_detail, started_at, cancel_at, cancel_at_period_end,
       canceled_at, ended_at, trial_end, pause_behavior, pause_resumes_at, paused_until, collection, tenant_hint,
       unpaid_invoice_id, unpaid_since)
    select ${account}, subscription_id, customer_id, status, status_detail, started_at, cancel_at,
      cancel_at_period_end, canceled_at, ended_at, trial_end, pause_behavior, pause_resumes_at, paused_until,
      collection, tenant_hint, unpaid_invoice_id, unpaid_since
    from jsonb_to_recordset(${sql.jsonb(subscriptions.map(subscriptionRecord))}) as read (
      subscription_id text, customer_id text, status text, status_detail text, started_at timestamptz,
      cancel_at timestamptz, cancel_at_period_end boolean, canceled_at timestamptz, ended_at timestamptz,
      trial_end timestamptz, pause_behavior text, pause_resumes_at timestamptz, paused_until timestamptz,
      collection text, tenant_hint text, unpaid_invoice_id text, unpaid_since timestamptz)
    on conflict (account, subscription_id) do update
      set customer_id = excluded.customer_id,
          status = excluded.status,
          status_detail = excluded.status_detail,
          started_at = excluded.started_at,
          cancel_at = excluded.cancel_at,
          cancel_at_period_end = excluded.cancel_at_period_end,
          canceled_at = excluded.canceled_at,
          ended_at = excluded.ended_at,
          trial_end = excluded.trial_end,
          pause_behavior = excluded.pause_behavior,
          pause_resumes_at = excluded.pause_resumes_at,
          paused_until = excluded.paused_until,
          collection = excluded.collection,
          tenant_hint = excluded.tenant_hint,
          unpaid_invoice_id = excluded.unpaid_invoice_id,
          unpaid_since = excluded.unpaid_since,
          updated_at = goodstanding.clock()
  `)
  await saveItems(tx, account, subscriptions)
}

const saveItems = async (tx: Transaction, account: string, subscriptions: readonly Subscription[]) => {
  const items = subscriptions.flatMap((subscription) =>
    subscription.items.map((item, position) => itemRecord(subscription.id, item, position)),
  )
  await tx.query(sql.unsafe`
    insert into goodstanding.subscription_items
      (account, item_id, subscription_id, position, price_id, lookup_key, product_id, quantity, metered,
       period_start, period_end)
    select ${account}, item_id, subscription_id, position, price_id, lookup_key, product_id, quantity, metered,
      period_start, period_end
    from jsonb_to_recordset(${sql.jsonb(items)}) as read (
      item_id text, subscription_id text, position integer, price_id text, lookup_key text, product_id text,
      quantity bigint, metered boolean, period_start timestamptz, period_end timestamptz)
    on conflict (account, item_id) do update
      set subscription_id = excluded.subscription_id,
          position = excluded.position,
          price_id = excluded.price_id,
          lookup_key = excluded.lookup_key,
          product_id = excluded.product_id,
          quantity = excluded.quantity,
          metered = excluded.metered,
          period_start = excluded.period_start,
          period_end = excluded.period_end,
          removed_at = null
  `)
  await tx.query(sql.unsafe`
    update goodstanding.subscription_items
    set removed_at = goodstanding.clock()
    where account = ${account}
      and subscription_id = any(${sql.array(
        subscriptions.map(({ id }) => id),
        'text',
      )})
      and item_id <> all(${sql.array(
        items.map((item) => item.item_id),
        'text',
      )})
      and removed_at is null
  `)
}

const subscriptionRecord = (subscription: Subscription) => ({
  subscription_id: subscription.id,
  customer_id: subscription.customerId,
  status: subscription.status,
  status_detail: subscription.statusDetail,
  started_at: toIso(subscription.startedAt),
  cancel_at: toIso(subscription.cancelAt),
  cancel_at_period_end: subscription.cancelAtPeriodEnd,
  canceled_at: toIso(subscription.canceledAt),
  ended_at: toIso(subscription.endedAt),
  trial_end: toIso(subscription.trialEnd),
  pause_behavior: subscription.pause?.behavior ?? null,
  pause_resumes_at: toIso(subscription.pause?.resumesAt ?? null),
  paused_until: toIso(subscription.pausedUntil),
  collection: subscription.collection,
  tenant_hint: subscription.tenantId,
  unpaid_invoice_id: subscription.unpaid?.invoiceId ?? null,
  unpaid_since: toIso(subscription.unpaid?.since ?? null),
})

const itemRecord = (subscriptionId: string, item: Item, position: number) => ({
  item_id: item.id,
  subscription_id: subscriptionId,
  position,
  price_id: item.priceId,
  lookup_key: item.lookupKey,
  product_id: item.productId,
  quantity: item.quantity,
  metered: item.metered,
  period_start: toIso(item.periodStart),
  period_end: toIso(item.periodEnd),
})
