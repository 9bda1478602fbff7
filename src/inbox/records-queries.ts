// SQL of refunds and disputes: recorded as reported. They have no effect on access by themselves.
import { sql } from 'slonik'
import type { Transaction } from '../postgres/pool.ts'
import { toIso } from '../time.ts'
import type { Reported } from './money-back.ts'

/** Records one; a later report of the same id replaces what was known, but never forgets the customer. */
export const saveMoneyBack = (
  tx: Transaction,
  account: string,
  { kind, ...back }: Reported & { customerId: string | null },
) => {
  const table =
    kind === 'refund'
      ? sql.identifier(['goodstanding', 'refunds'])
      : sql.identifier(['goodstanding', 'disputes'])
  const id = sql.identifier([`${kind}_id`])
  return tx.query(sql.unsafe`
    insert into ${table} as mine
      (account, ${id}, customer_id, charge_id, payment_intent_id, amount, currency, status, stripe_created_at)
    values (${account}, ${back.id}, ${back.customerId}, ${back.chargeId}, ${back.paymentIntentId}, ${back.amount},
            ${back.currency}, ${back.status}, ${toIso(back.createdAt)}::timestamptz)
    on conflict (account, ${id}) do update
      set customer_id = coalesce(excluded.customer_id, mine.customer_id),
          charge_id = coalesce(excluded.charge_id, mine.charge_id),
          payment_intent_id = coalesce(excluded.payment_intent_id, mine.payment_intent_id),
          amount = excluded.amount,
          status = excluded.status,
          updated_at = goodstanding.clock()
  `)
}
