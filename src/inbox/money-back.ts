// RULE: what an event reports of refunds and disputes. `charge.refunded` carries a running total, so only the refunds
// that it lists are recorded, never the total.
import { instantOf } from '../entitlements/fields.ts'
import { idOf } from '../ids.ts'
import type { Instant } from '../time.ts'

/** As reported; amounts in the currency's smallest unit. */
export type Reported = {
  kind: 'refund' | 'dispute'
  id: string
  chargeId: string | null
  paymentIntentId: string | null
  /** Said by old API versions only; others are tied through the payment intent. */
  invoiceId: string | null
  amount: number | null
  currency: string | null
  status: string | null
  createdAt: Instant | null
}

/** The refunds or the dispute in `data.object` (a refund, a dispute, or a charge with its refunds). */
export const reportedMoneyBack = (object: Record<string, unknown>): Reported[] => {
  const kind = object['object']
  if (kind === 'refund') return one('refund', object, null)
  if (kind === 'dispute') return one('dispute', object, null)
  if (kind !== 'charge') return []
  const list = object['refunds']
  const data =
    typeof list === 'object' && list !== null && 'data' in list && Array.isArray(list.data) ? list.data : []
  return data.flatMap((refund: unknown) =>
    typeof refund === 'object' && refund !== null
      ? one('refund', refund as Record<string, unknown>, idOf(object['invoice']))
      : [],
  )
}

const one = (
  kind: Reported['kind'],
  object: Record<string, unknown>,
  invoiceId: string | null,
): Reported[] => {
  const id = idOf(object['id'])
  if (id === null) return []
  return [
    {
      kind,
      id,
      chargeId: idOf(object['charge']),
      paymentIntentId: idOf(object['payment_intent']),
      invoiceId,
      amount: Number.isSafeInteger(object['amount']) ? (object['amount'] as number) : null,
      currency: word(object['currency']),
      status: word(object['status']),
      createdAt: instantOf(object, 'created', []),
    },
  ]
}

const word = (value: unknown): string | null =>
  typeof value === 'string' && /^[\w-]{1,64}$/.test(value) ? value : null
