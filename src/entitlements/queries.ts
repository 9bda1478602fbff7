// SQL of invoices, remembered price mappings, and of the customers that must be read again.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Queries, Transaction } from '../postgres/pool.ts'
import { toIso, type Instant } from '../time.ts'
import type { Invoice } from './model.ts'

/**
 * Records invoices. A stored paid or void one is never left. `reportedAt`: when Stripe made the event that says so, where
 * it was not read; an older one that comes late changes nothing.
 */
export const saveInvoices = async (
  tx: Transaction,
  account: string,
  invoices: readonly Invoice[],
  reportedAt: Instant | null = null,
) => {
  if (invoices.length === 0) return
  await tx.query(sql.unsafe`
    insert into goodstanding.invoices as mine
      (account, invoice_id, customer_id, subscription_id, status, amount_due, amount_paid, amount_remaining, currency,
       collection, billing_reason, stripe_created_at, due_at, finalized_at, reported_at)
    select ${account}, invoice_id, customer_id, subscription_id, status, amount_due, amount_paid, amount_remaining,
      currency, collection, billing_reason, stripe_created_at, due_at, finalized_at,
      ${toIso(reportedAt)}::timestamptz
    from jsonb_to_recordset(${sql.jsonb(invoices.map(invoiceRecord))}) as read (
      invoice_id text, customer_id text, subscription_id text, status text, amount_due bigint, amount_paid bigint,
      amount_remaining bigint, currency text, collection text, billing_reason text, stripe_created_at timestamptz,
      due_at timestamptz, finalized_at timestamptz)
    on conflict (account, invoice_id) do update
      set customer_id = excluded.customer_id,
          subscription_id = excluded.subscription_id,
          status = excluded.status,
          amount_due = excluded.amount_due,
          amount_paid = excluded.amount_paid,
          amount_remaining = excluded.amount_remaining,
          due_at = excluded.due_at,
          finalized_at = excluded.finalized_at,
          reported_at = coalesce(excluded.reported_at, mine.reported_at),
          updated_at = goodstanding.clock()
      where mine.status not in ('paid', 'void')
        and excluded.reported_at < mine.reported_at is not true
  `)
}

const invoiceRecord = (invoice: Invoice) => ({
  invoice_id: invoice.id,
  customer_id: invoice.customerId,
  subscription_id: invoice.subscriptionId,
  status: invoice.status,
  amount_due: invoice.amountDue,
  amount_paid: invoice.amountPaid,
  amount_remaining: invoice.amountRemaining,
  currency: invoice.currency,
  collection: invoice.collection,
  billing_reason: invoice.billingReason,
  stripe_created_at: toIso(invoice.createdAt),
  due_at: toIso(invoice.dueAt),
  finalized_at: toIso(invoice.finalizedAt),
})

/** Plans remembered for prices (price id -> plan). */
export const loadMappings = async (db: Queries, account: string, priceIds: readonly string[]) => {
  const rows = await db.any(sql.type(z.strictObject({ price_id: z.string(), plan: z.string() }))`
    select price_id, plan
    from goodstanding.price_mappings
    where account = ${account}
      and price_id = any(${sql.array([...priceIds], 'text')})
  `)
  return Object.fromEntries(rows.map((row) => [row.price_id, row.plan]))
}

export const saveMapping = (tx: Transaction, input: { account: string; priceId: string; plan: string }) =>
  tx.query(sql.unsafe`
    insert into goodstanding.price_mappings (account, price_id, plan)
    values (${input.account}, ${input.priceId}, ${input.plan})
    on conflict (account, price_id) do update
      set plan = excluded.plan
  `)

/** Customers of an account that have a live item of a price or product. */
export const findCustomersHaving = (
  db: Queries,
  input: { account: string; what: 'price' | 'product'; id: string; limit: number },
) =>
  db.anyFirst(sql.type(z.strictObject({ customer_id: z.string() }))`
    select distinct subscription.customer_id
    from goodstanding.subscription_items item
    join goodstanding.subscriptions subscription using (account, subscription_id)
    where item.account = ${input.account}
      and ${input.what === 'price' ? sql.fragment`item.price_id` : sql.fragment`item.product_id`} = ${input.id}
      and item.removed_at is null
      and subscription.status not in ('canceled', 'incomplete_expired')
    limit ${input.limit}
  `)

/**
 * Takes customers that must be read again: a recheck end has come, or they were decided by another catalog or other
 * rules. Each is taken once in ten minutes. Call it in the transaction that enqueues their jobs.
 */
export const claimRechecks = (
  tx: Transaction,
  input: { accounts: readonly string[]; catalogHash: string; decisionVersion: number; limit: number },
) =>
  tx.any(sql.type(z.strictObject({ account: z.string(), customer_id: z.string() }))`
    update goodstanding.customers
    set recheck_queued_at = clock_timestamp()
    where (account, customer_id) in (
      select account, customer_id
      from goodstanding.customers
      where account = any(${sql.array([...input.accounts], 'text')})
        and (read_ticket > 0 or evidence_at is not null)
        and tenant_id is not null
        and (
          -- A test clock does not run by itself, and Stripe tells when it is moved.
          (test_clock_at is null and recheck_at <= goodstanding.clock())
          or catalog_hash is distinct from ${input.catalogHash}
          or decision_version is distinct from ${input.decisionVersion}
        )
        and (recheck_queued_at is null or recheck_queued_at < clock_timestamp() - interval '10 minutes')
      order by recheck_at nulls last
      limit ${input.limit}
      for update skip locked
    )
    returning account, customer_id
  `)
