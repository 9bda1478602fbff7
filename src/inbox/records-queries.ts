// SQL of refunds and disputes: recorded as reported. They have no effect on access by themselves.
import { sql } from 'slonik'
import type { Transaction } from '../postgres/pool.ts'
import { toIso, type Instant } from '../time.ts'
import type { Reported } from './money-back.ts'

/**
 * Records one; a newer report of the same id replaces what was known, but never forgets the customer. `reportedAt`: when
 * Stripe made the event; an older one that comes late only adds what was not known.
 */
export const saveMoneyBack = (
  tx: Transaction,
  account: string,
  { kind, ...back }: Reported & { customerId: string | null; reportedAt: Instant | null },
) => {
  const table =
    kind === 'refund'
      ? sql.identifier(['goodstanding', 'refunds'])
      : sql.identifier(['goodstanding', 'disputes'])
  const id = sql.identifier([`${kind}_id`])
  return tx.query(sql.unsafe`
    insert into ${table} as mine
      (account, ${id}, customer_id, charge_id, payment_intent_id, invoice_id, amount, currency, status,
       stripe_created_at, reported_at)
    values (${account}, ${back.id}, ${back.customerId}, ${back.chargeId}, ${back.paymentIntentId}, ${back.invoiceId}, ${back.amount},
            ${back.currency}, ${back.status}, ${toIso(back.createdAt)}::timestamptz,
            ${toIso(back.reportedAt)}::timestamptz)
    on conflict (account, ${id}) do update
      set customer_id = coalesce(excluded.customer_id, mine.customer_id),
          charge_id = coalesce(excluded.charge_id, mine.charge_id),
          payment_intent_id = coalesce(excluded.payment_intent_id, mine.payment_intent_id),
          invoice_id = coalesce(excluded.invoice_id, mine.invoice_id),
          amount = case when excluded.reported_at < mine.reported_at then mine.amount else excluded.amount end,
          status = case when excluded.reported_at < mine.reported_at then mine.status else excluded.status end,
          reported_at = greatest(mine.reported_at, excluded.reported_at),
          updated_at = goodstanding.clock()
  `)
}
