// RULE: event -> what it is about. First by its envelope (at receipt), then by its body (in the worker). An event is
// a notification; its payload supplies identity and evidence, never the new state.
// Source of the types: https://docs.stripe.com/api/events/types
import { idOf, isPrintableId } from '../ids.ts'
import type { Reason } from '../reasons.ts'
import { fromStripeSeconds, type Instant } from '../time.ts'

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
  ['paid', 'payment_succeeded', 'payment_failed', 'payment_action_required', 'finalized', 'finalization_failed', 'voided', 'marked_uncollectible', 'overdue'].map(
    (verb) => `invoice.${verb}`,
  ),
)
const CHECKOUT_TYPES = new Set(
  ['completed', 'async_payment_succeeded', 'async_payment_failed'].map((verb) => `checkout.session.${verb}`),
)

/** The topic of a type, or null where it is ignored. Thin types (`v1.customer.updated`) count as their snapshots. */
export const topicOf = (eventType: string): Topic | null => {
  const type = eventType.startsWith('v1.') ? eventType.slice(3) : eventType
  if (CHECKOUT_TYPES.has(type)) return 'checkout'
  if (type.startsWith('customer.subscription.')) return 'subscription'
  if (INVOICE_TYPES.has(type)) return 'invoice'
  if (type === 'invoice_payment.paid') return 'invoice_payment'
  if (type === 'customer.created' || type === 'customer.updated' || type === 'customer.deleted') return 'customer'
  if (type === 'charge.refunded') return 'charge'
  if (type.startsWith('refund.') || type === 'charge.refund.updated') return 'refund'
  if (type.startsWith('charge.dispute.')) return 'dispute'
  if (type === 'entitlements.active_entitlement_summary.updated') return 'customer_object'
  if (type.startsWith('subscription_schedule.')) return 'customer_object'
  if (type.startsWith('product.') || type.startsWith('price.')) return 'catalog'
  return null
}

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
    createdAt: createdAt(event['created']),
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
  if (envelope.livemode !== null && account.livemode !== null && envelope.livemode !== account.livemode) return 'livemode_mismatch'
  if (envelope.connectId !== account.connectId) return 'account_mismatch'
  // Without a type there is nothing to go by: a worker quarantines it, visibly.
  if (envelope.type !== null && topicOf(envelope.type) === null) return 'event_type_ignored'
  return null
}

/** A tenant named by the host's server, and where. `invalid` where it cannot be a tenant id. */
export type TenantHint = { kind: 'none' } | { kind: 'invalid' } | { kind: 'tenant'; tenantId: string; by: 'checkout' | 'metadata' }

export type Interpretation =
  | { kind: 'ignore'; reason: Reason }
  | { kind: 'quarantine'; reason: Reason; error: string }
  /** Names no customer: ask Stripe through this object first. */
  | { kind: 'resolve'; through: 'charge' | 'invoice' | 'subscription'; id: string }
  | { kind: 'unresolvable' }
  /** A price or product changed: read the customers that have it. */
  | { kind: 'fan_out'; what: 'price' | 'product'; id: string }
  | { kind: 'reconcile'; topic: Topic; impliesSubscription: boolean; hint: TenantHint; object: Record<string, unknown> | null }

// Statuses from which no subscription comes back.
const ENDED = new Set(['canceled', 'incomplete_expired'])

/**
 * What to do about a stored event. `customerId` is what the inbox row knows (from the payload or resolved since);
 * `body` the parsed payload.
 */
export const interpret = (input: { type: string; body: unknown; customerId: string | null }): Interpretation => {
  const topic = topicOf(input.type)
  if (topic === null) return { kind: 'ignore', reason: 'event_type_ignored' }
  const event = asRecord(input.body)
  if (event['object'] === 'v2.core.event') return interpretThin(topic, event, input.customerId)
  const object = asRecord(asRecord(event['data'])['object'])
  if (Object.keys(object).length === 0) return unreadable('data.object is missing')
  if (topic === 'catalog') return fanOut(object)
  const wrong = wrongKind(topic, object)
  if (wrong !== null) return unreadable(wrong)
  if (input.customerId === null) return withoutCustomer(topic, object)
  if (topic === 'checkout' && object['mode'] !== 'subscription' && tenantHint(topic, object).kind === 'none') {
    return { kind: 'ignore', reason: 'checkout_without_subscription' }
  }
  const hint = tenantHint(topic, object)
  if (hint.kind === 'invalid') return unreadable('tenant_id is not a usable id')
  return { kind: 'reconcile', topic, impliesSubscription: impliesSubscription(topic, input.type, object), hint, object }
}

const unreadable = (error: string): Interpretation => ({ kind: 'quarantine', reason: 'unrecognized_stripe_payload', error })

const interpretThin = (topic: Topic, event: Record<string, unknown>, customerId: string | null): Interpretation => {
  const related = asRecord(event['related_object'])
  const id = idOf(related['id'])
  if (customerId !== null) {
    return { kind: 'reconcile', topic, impliesSubscription: topic === 'subscription', hint: { kind: 'none' }, object: null }
  }
  if (id === null) return { kind: 'quarantine', reason: 'thin_event_without_data', error: 'related_object has no id' }
  if (topic === 'catalog') return fanOut({ object: related['type'], id })
  const through = related['type']
  if (through === 'subscription' || through === 'invoice' || through === 'charge') return { kind: 'resolve', through, id }
  return { kind: 'unresolvable' }
}

const fanOut = (object: Record<string, unknown>): Interpretation => {
  const id = idOf(object['id'])
  const what = object['object']
  if (id === null || (what !== 'price' && what !== 'product')) return unreadable('neither a price nor a product')
  return { kind: 'fan_out', what, id }
}

const KIND_OF_TOPIC: Partial<Record<Topic, string>> = {
  checkout: 'checkout.session',
  subscription: 'subscription',
  invoice: 'invoice',
  customer: 'customer',
  charge: 'charge',
  dispute: 'dispute',
}

// Payloads of 2012 carry `object` too; one that is there and differs is another thing than its type says.
const wrongKind = (topic: Topic, object: Record<string, unknown>): string | null => {
  const expected = KIND_OF_TOPIC[topic]
  const actual = object['object']
  if (expected !== undefined && typeof actual === 'string' && actual !== expected) return `data.object is a ${actual.slice(0, 40)}, not a ${expected}`
  const needsId = topic === 'subscription' || topic === 'customer'
  return needsId && idOf(object['id']) === null ? 'data.object has no usable id' : null
}

const withoutCustomer = (topic: Topic, object: Record<string, unknown>): Interpretation => {
  if (topic === 'checkout') return { kind: 'ignore', reason: 'checkout_without_subscription' }
  if (topic === 'subscription') return unreadable('a subscription without a customer')
  const invoice = idOf(object['invoice'])
  const charge = topic === 'charge' ? null : idOf(object['charge'])
  if (topic === 'invoice_payment' && invoice !== null) return { kind: 'resolve', through: 'invoice', id: invoice }
  if (charge !== null) return { kind: 'resolve', through: 'charge', id: charge }
  return { kind: 'unresolvable' }
}

// `metadata.tenant_id` is set by the host's server; of a Payment Link session the payer can alter the reference.
const tenantHint = (topic: Topic, object: Record<string, unknown>): TenantHint => {
  const fromMetadata = hintOf(asRecord(object['metadata'])['tenant_id'], topic === 'checkout' ? 'checkout' : 'metadata')
  if (topic !== 'checkout' && topic !== 'subscription' && topic !== 'customer') return { kind: 'none' }
  if (fromMetadata.kind !== 'none' || topic !== 'checkout') return fromMetadata
  return object['payment_link'] === null || object['payment_link'] === undefined
    ? hintOf(object['client_reference_id'], 'checkout')
    : { kind: 'none' }
}

const hintOf = (value: unknown, by: 'checkout' | 'metadata'): TenantHint => {
  if (value === undefined || value === null || value === '') return { kind: 'none' }
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  if (typeof value !== 'string' || value.length > 255 || /[\u0000-\u001f\u007f]|[\ud800-\udfff](?![\udc00-\udfff])/.test(value.replaceAll(/[\ud800-\udbff][\udc00-\udfff]/g, 'x'))) {
    return { kind: 'invalid' }
  }
  return { kind: 'tenant', tenantId: value, by }
}

const impliesSubscription = (topic: Topic, type: string, object: Record<string, unknown>): boolean => {
  if (topic === 'checkout') return object['mode'] === 'subscription'
  if (topic === 'subscription') return !type.endsWith('.deleted') && !ENDED.has(String(object['status']))
  return topic === 'invoice' && subscriptionOfInvoice(object) !== null
}

/** The subscription that an invoice names, legacy field or parent; which is right is snapshot.ts's question. */
const subscriptionOfInvoice = (invoice: Record<string, unknown>): string | null =>
  idOf(invoice['subscription']) ??
  idOf(asRecord(asRecord(invoice['parent'])['subscription_details'])['subscription'])

const customerOf = (object: Record<string, unknown>): string | null =>
  object['object'] === 'customer' ? idOf(object['id']) : idOf(object['customer'])

const createdAt = (created: unknown): Instant | null => {
  const at = typeof created === 'string' ? Date.parse(created) : fromStripeSeconds(typeof created === 'number' ? created : null)
  // PostgreSQL's range is wider; JavaScript's Date is what has to hold it.
  return at !== null && Number.isFinite(at) && Math.abs(at) < 8.64e15 ? at : null
}

const printable = (value: unknown): string | null => (typeof value === 'string' && isPrintableId(value) ? value : null)

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
