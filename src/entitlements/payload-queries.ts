// SQL of payload mode: what the newest events said of a customer's subscriptions and payments. Called under the
// customer's lock.
import { sql } from 'slonik'
import { z } from 'zod'
import type { CustomerKey } from '../customers/queries.ts'
import type { Queries, Transaction } from '../postgres/pool.ts'
import { toIso } from '../time.ts'
import type { InvoiceOutcome, Report } from './guard.ts'
import type { Subscription } from './model.ts'

/** What is known of a subscription by its events. */
export type Reported = { report: Report; outcome: InvoiceOutcome | null }

const reportRow = sql.type(
  z.strictObject({
    told: z.enum(['created', 'changed', 'deleted']),
    reported_at: z.number(),
    reported: z.custom<Subscription>((reported) => typeof reported === 'object' && reported !== null),
    payment: z.enum(['paid', 'failed']).nullable(),
    payment_at: z.number().nullable(),
    payment_invoice_id: z.string().nullable(),
    paid_through: z.record(z.string(), z.number()),
  }),
)

/** The newest reports of a customer's subscriptions. */
export const loadReports = async (db: Queries, { account, customerId }: CustomerKey): Promise<Reported[]> => {
  const rows = await db.any(reportRow`
    select report.told, report.reported_at, report.reported, report.payment, report.payment_at,
      report.payment_invoice_id, report.paid_through
    from goodstanding.payload_reports report
    join goodstanding.subscriptions subscription using (account, subscription_id)
    where report.account = ${account}
      and subscription.customer_id = ${customerId}
    order by report.subscription_id
  `)
  return rows.map((row) => ({
    report: { told: row.told, at: row.reported_at, subscription: row.reported },
    outcome:
      row.payment === null
        ? null
        : {
            payment: row.payment,
            at: row.payment_at ?? 0,
            invoiceId: row.payment_invoice_id ?? '',
            paidThrough: row.paid_through,
          },
  }))
}

export const saveReport = (tx: Transaction, account: string, { report, outcome }: Reported) =>
  tx.query(sql.unsafe`
    insert into goodstanding.payload_reports
      (account, subscription_id, told, reported_at, reported, payment, payment_at, payment_invoice_id, paid_through)
    values (${account}, ${report.subscription.id}, ${report.told}, ${toIso(report.at)}::timestamptz,
            ${sql.jsonb(report.subscription)}, ${outcome?.payment ?? null},
            ${toIso(outcome?.at ?? null)}::timestamptz, ${outcome?.invoiceId ?? null},
            ${sql.jsonb(outcome?.paidThrough ?? {})})
    on conflict (account, subscription_id) do update
      set told = excluded.told,
          reported_at = excluded.reported_at,
          reported = excluded.reported,
          payment = excluded.payment,
          payment_at = excluded.payment_at,
          payment_invoice_id = excluded.payment_invoice_id,
          paid_through = excluded.paid_through
  `)

/** Whose subscription it is, where it is recorded. */
export const findCustomerOfSubscription = (db: Queries, input: { account: string; subscriptionId: string }) =>
  db.maybeOneFirst(sql.type(z.strictObject({ customer_id: z.string() }))`
    select customer_id
    from goodstanding.subscriptions
    where account = ${input.account}
      and subscription_id = ${input.subscriptionId}
  `)
