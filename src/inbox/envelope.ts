// RULE: the envelope of any event, snapshot or thin, of any version: what it is about by its type, the columns of the
// inbox, and whether it is settled at receipt. Total: never throws on JSON.
// Source of the types: https://docs.stripe.com/api/events/types
import { fieldsOf, instantOf } from '../entitlements/fields.ts'
import { idOf, isPrintableId } from '../ids.ts'
import type { Reason } from '../reasons.ts'
import type { Instant } from '../time.ts'

/** What an event type is about; types that are not listed are ignored. */
export type Topic =
  | 'checkout'
  | 'subscription'
  | 'invoice'
  | 'invoice_payment'
  | 'customer'
  | 'charge'
  | 'refund'
  | 'dispute'
  | 'customer_object'
  | 'catalog'

const INVOICE_TYPES = new Set(
  [
    'paid',
    'payment_succeeded',
    'payment_failed',
    'payment_action_required',
    'finalized',
    'finalization_failed',
    'voided',
    'marked_uncollectible',
    'overdue',
  ].map((verb) => `invoice.${verb}`),
)
const CHECKOUT_TYPES = new Set(
  ['completed', 'async_payment_succeeded', 'async_payment_failed'].map((verb) => `checkout.session.${verb}`),
)

const SUBSCRIPTION_TYPES = ['created', 'updated', 'deleted', 'paused', 'resumed', 'trial_will_end'].map(
  (verb) => `customer.subscription.${verb}`,
)

/** Without these an endpoint misses what decides access (rules.md, the core six). */
export const NEEDED_TYPES: readonly string[] = [
  'checkout.session.completed',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'invoice.paid',
  'invoice.payment_failed',
]

/** What an endpoint should subscribe to: every type that does something here. */
export const WORKED_TYPES: readonly string[] = [
  ...CHECKOUT_TYPES,
  ...SUBSCRIPTION_TYPES,
  ...INVOICE_TYPES,
  'customer.created',
  'customer.updated',
  'customer.deleted',
  'charge.refunded',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'entitlements.active_entitlement_summary.updated',
  'price.updated',
  'product.updated',
]

/** The topic of a type, or null where it is ignored. Thin types (`v1.customer.updated`) count as their snapshots. */
export const topicOf = (eventType: string): Topic | null => {
  const type = eventType.startsWith('v1.') ? eventType.slice(3) : eventType
  if (CHECKOUT_TYPES.has(type)) return 'checkout'
  if (type.startsWith('customer.subscription.')) return 'subscription'
  if (INVOICE_TYPES.has(type)) return 'invoice'
  if (type === 'invoice_payment.paid') return 'invoice_payment'
  if (type === 'customer.created' || type === 'customer.updated' || type === 'customer.deleted')
    return 'customer'
  if (type === 'charge.refunded') return 'charge'
  if (type.startsWith('refund.') || type === 'charge.refund.updated') return 'refund'
  if (type.startsWith('charge.dispute.')) return 'dispute'
  if (type === 'entitlements.active_entitlement_summary.updated') return 'customer_object'
  if (type.startsWith('subscription_schedule.')) return 'customer_object'
  if (type.startsWith('product.') || type.startsWith('price.')) return 'catalog'
  return null
}

/** In the place of a type that cannot be read: quarantined, never ignored. */
export const NO_TYPE = 'unrecognized'

/** The columns of the inbox that come from the envelope. Everything is checked; what does not pass is null. */
export type Envelope = {
  /** Null where the body names no usable id: then it cannot be told from its copies by id. */
  eventId: string | null
  type: string | null
  livemode: boolean | null
  apiVersion: string | null
  createdAt: Instant | null
  connectId: string | null
  customerId: string | null
  objectId: string | null
  thin: boolean
}

/** Reads the envelope of any event, snapshot or thin, of any version. Total: never throws on JSON. */
export const readEnvelope = (body: unknown): Envelope => {
  const event = asRecord(body)
  const thin = event['object'] === 'v2.core.event'
  const object = thin ? asRecord(event['related_object']) : asRecord(asRecord(event['data'])['object'])
  return {
    eventId: printable(event['id']),
    type: printable(event['type']),
    livemode: typeof event['livemode'] === 'boolean' ? event['livemode'] : null,
    apiVersion: printable(event['api_version']),
    createdAt: createdAt(event),
    connectId: printable(event['account']),
    customerId: thin ? (object['type'] === 'customer' ? idOf(object['id']) : null) : customerOf(object),
    objectId: idOf(object['id']),
    thin,
  }
}

/** Settled without a worker? Then the reason, else null. `account` is what we know of the account. */
export const settledAtReceipt = (
  envelope: Envelope,
  account: { livemode: boolean | null; connectId: string | null },
): Reason | null => {
  if (envelope.livemode !== null && account.livemode !== null && envelope.livemode !== account.livemode)
    return 'livemode_mismatch'
  if (envelope.connectId !== account.connectId) return 'account_mismatch'
  // Without a type there is nothing to go by: a worker quarantines it, visibly.
  if (envelope.type !== null && topicOf(envelope.type) === null) return 'event_type_ignored'
  return null
}

const customerOf = (object: Record<string, unknown>): string | null =>
  object['object'] === 'customer' ? idOf(object['id']) : idOf(object['customer'])

// Seconds, or the ISO text of a thin event. A time that not all of PostgreSQL, ISO text and a Date can hold is none:
// a column that refuses it would have Stripe deliver the event for ever.
const createdAt = (event: Record<string, unknown>): Instant | null => {
  const created = event['created']
  const seconds = typeof created === 'string' ? Date.parse(created) / 1_000 : created
  return instantOf({ seconds }, 'seconds', [])
}

const printable = (value: unknown): string | null =>
  typeof value === 'string' && isPrintableId(value) ? value : null

/** A JSON object, or an empty one in the place of anything else. */
export const asRecord = (value: unknown): Record<string, unknown> => fieldsOf(value) ?? {}
