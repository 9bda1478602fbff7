// What events do besides reconciling their customer: name it through another object, record refunds and disputes,
// send reconciles to the customers of a price.
import type { WorkerContext } from '../context.ts'
import { findCustomersHaving } from '../entitlements/queries.ts'
import { enqueueReconcile } from '../entitlements/sweep.ts'
import { idOf } from '../ids.ts'
import type { Outcome } from '../outcome.ts'
import type { Transaction } from '../postgres/pool.ts'
import { readStripeFailure } from '../stripe/failure.ts'
import type { StripeReader } from '../stripe/read.ts'
import type { EventRow } from './attempt-queries.ts'
import type { Interpretation } from './interpret.ts'
import { reportedMoneyBack, type Reported } from './money-back.ts'
import { saveMoneyBack } from './records-queries.ts'

// A price that more customers share than this is caught up by the sweep, not by one event.
const FAN_OUT_MAX = 10_000

/** Asks Stripe whose object it is; the event then goes on under that customer's lock. */
export const resolveCustomer = async (
  tx: Transaction,
  event: EventRow,
  { through, id }: Extract<Interpretation, { kind: 'resolve' }>,
  body: unknown,
  reader: () => StripeReader,
): Promise<Outcome> => {
  const customer = idOf((await reader()[through](id))?.customer)
  if (customer !== null) return { kind: 'rerouted', customerId: customer }
  await recordMoneyBack(tx, event, body)
  return { kind: 'done', processed: 'no_change', reason: 'customer_unresolved' }
}

/** Records the refunds or the dispute that an event reports; with a reader each is tied to its invoice. */
export const recordMoneyBack = async (
  tx: Transaction,
  event: EventRow,
  body: unknown,
  reader: (() => StripeReader) | null = null,
): Promise<void> => {
  const data = typeof body === 'object' && body !== null && 'data' in body ? body.data : null
  const object = typeof data === 'object' && data !== null && 'object' in data ? data.object : null
  if (typeof object !== 'object' || object === null) return
  for (const reported of reportedMoneyBack(object as Record<string, unknown>)) {
    await saveMoneyBack(tx, event.account, {
      ...reported,
      invoiceId: reported.invoiceId ?? (await invoiceOf(reported, reader)),
      customerId: event.customer_id,
      reportedAt: event.stripe_created_at,
    })
  }
}

// A key that may not list payments costs the tie, not the event.
const invoiceOf = async (
  { paymentIntentId }: Reported,
  reader: (() => StripeReader) | null,
): Promise<string | null> => {
  if (reader === null || paymentIntentId === null) return null
  try {
    return await reader().invoiceOfPayment(paymentIntentId)
  } catch (error) {
    if (readStripeFailure(error)?.kind === 'permission_missing') return null
    throw error
  }
}

/** A price or product changed: its customers are read again, each in a job of its own. */
export const fanOut = async (
  { queue }: Pick<WorkerContext, 'queue'>,
  tx: Transaction,
  event: EventRow,
  { what, id }: Extract<Interpretation, { kind: 'fan_out' }>,
): Promise<Outcome> => {
  const customers = await findCustomersHaving(tx, { account: event.account, what, id, limit: FAN_OUT_MAX })
  for (const customerId of customers) {
    await enqueueReconcile(tx, queue, { account: event.account, customerId, cause: event.type })
  }
  return { kind: 'done', processed: customers.length > 0 ? 'applied' : 'no_change', reason: null }
}
