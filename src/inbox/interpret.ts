// RULE: a stored event -> what to do about it. An event is a notification; its payload supplies identity and
// evidence, never the new state.
import { idOf } from '../ids.ts'
import type { Reason } from '../reasons.ts'
import { asRecord, NO_TYPE, topicOf, type Topic } from './envelope.ts'
import { tenantHint, type TenantHint } from './tenant-hint.ts'

export type Interpretation =
  | { kind: 'ignore'; reason: Reason }
  | { kind: 'quarantine'; reason: Reason; error: string }
  /** Names no customer: ask Stripe through this object first. */
  | { kind: 'resolve'; through: 'charge' | 'invoice' | 'subscription'; id: string }
  | { kind: 'unresolvable' }
  /** A price or product changed: read the customers that have it. */
  | { kind: 'fan_out'; what: 'price' | 'product'; id: string }
  | {
      kind: 'reconcile'
      topic: Topic
      impliesSubscription: boolean
      hint: TenantHint
      object: Record<string, unknown> | null
    }

// Statuses from which no subscription comes back.
const ENDED = new Set(['canceled', 'incomplete_expired'])

/**
 * What to do about a stored event. `customerId` is what the inbox row knows (from the payload or resolved since);
 * `body` the parsed payload.
 */
export const interpret = (input: {
  type: string
  body: unknown
  customerId: string | null
}): Interpretation => {
  if (input.type === NO_TYPE) return unreadable('the event has no usable type')
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
  if (
    topic === 'checkout' &&
    object['mode'] !== 'subscription' &&
    tenantHint(topic, object).kind === 'none'
  ) {
    return { kind: 'ignore', reason: 'checkout_without_subscription' }
  }
  const hint = tenantHint(topic, object)
  if (hint.kind === 'invalid') return unreadable('tenant_id is not a usable id')
  return {
    kind: 'reconcile',
    topic,
    impliesSubscription: impliesSubscription(topic, input.type, object),
    hint,
    object,
  }
}

const unreadable = (error: string): Interpretation => ({
  kind: 'quarantine',
  reason: 'unrecognized_stripe_payload',
  error,
})

const interpretThin = (
  topic: Topic,
  event: Record<string, unknown>,
  customerId: string | null,
): Interpretation => {
  const related = asRecord(event['related_object'])
  const id = idOf(related['id'])
  if (customerId !== null) {
    return {
      kind: 'reconcile',
      topic,
      impliesSubscription: topic === 'subscription',
      hint: { kind: 'none' },
      object: null,
    }
  }
  if (id === null)
    return { kind: 'quarantine', reason: 'thin_event_without_data', error: 'related_object has no id' }
  if (topic === 'catalog') return fanOut({ object: related['type'], id })
  const through = related['type']
  if (through === 'subscription' || through === 'invoice' || through === 'charge')
    return { kind: 'resolve', through, id }
  return { kind: 'unresolvable' }
}

const fanOut = (object: Record<string, unknown>): Interpretation => {
  const id = idOf(object['id'])
  const what = object['object']
  if (id === null || (what !== 'price' && what !== 'product'))
    return unreadable('neither a price nor a product')
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
  if (expected !== undefined && typeof actual === 'string' && actual !== expected)
    return `data.object is a ${actual.slice(0, 40)}, not a ${expected}`
  const needsId = topic === 'subscription' || topic === 'customer'
  return needsId && idOf(object['id']) === null ? 'data.object has no usable id' : null
}

const withoutCustomer = (topic: Topic, object: Record<string, unknown>): Interpretation => {
  if (topic === 'checkout') return { kind: 'ignore', reason: 'checkout_without_subscription' }
  if (topic === 'subscription') return unreadable('a subscription without a customer')
  const invoice = idOf(object['invoice'])
  const charge = topic === 'charge' ? null : idOf(object['charge'])
  if (topic === 'invoice_payment' && invoice !== null)
    return { kind: 'resolve', through: 'invoice', id: invoice }
  if (charge !== null) return { kind: 'resolve', through: 'charge', id: charge }
  return { kind: 'unresolvable' }
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
