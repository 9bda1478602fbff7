// What Stripe said, read from the JSON of any API version since 2012 into the shapes of model.ts. An object that
// cannot be read is an answer with its reasons, never an exception and never a guess: a partial list, a missing
// period or a quantity that is no count would take access away, or give it, on no evidence. And what Stripe does not
// tell, written once: no second look, retry or requeue may restart a grace period or a pause.
import { idOf, isOfOtherKind, isPrintableId } from '../ids.ts'
import type { Kind } from '../ids.ts'
import { earliest } from '../time.ts'
import type { Instant } from '../time.ts'
import { amountOf, fieldsOf, instantOf, quantityOf, tenantIdOf, textOf } from './fields.ts'
import type { Fields } from './fields.ts'
import type { Invoice, Item, Subscription } from './model.ts'

/** `why` names fields and ids, never other values. */
export type Reading<T> = { kind: 'read'; value: T } | { kind: 'unrecognized'; why: string }

export type Customer = { id: string; deleted: boolean; tenantId: string | null; testClockId: string | null }

type Sight = {
  /** The subscription as it was stored, with its memory; null at first sight. */
  previous: Subscription | null
  current: Subscription
  /** The customer's open invoices, just read (payload mode: as recorded). */
  openInvoices: readonly Invoice[]
  /** The customer's now: the test clock's time where there is one. */
  now: Instant
}

const NEEDS_PERIOD = new Set(['active', 'trialing', 'past_due'])
const MAY_BE_EMPTY = new Set(['canceled', 'incomplete_expired'])

/** A subscription as Stripe renders it in any API version. The two memory fields are null: `remember` fills them. */
export const readSubscription = (raw: unknown): Reading<Subscription> => {
  const fields = fieldsOf(raw)
  if (fields === null) return { kind: 'unrecognized', why: 'not an object' }
  const problems: string[] = []
  const id = ownId(fields, 'subscription', problems)
  const customerId = referenceOf(fields, 'customer', 'customer', problems)
  if (customerId === null) problems.push('no customer')
  const status = isPrintableId(fields['status']) ? fields['status'] : ''
  if (status === '') problems.push('no status')
  const canceledAt = instantOf(fields, 'canceled_at', problems)
  const items = readItems(fields, problems)
  if (items.length === 0 && !MAY_BE_EMPTY.has(status)) problems.push('no items')
  // Without it a paid-through date that we know would be overwritten by "no end".
  if (NEEDS_PERIOD.has(status))
    for (const item of items) if (item.periodEnd === null) problems.push(`item ${item.id}: no period end`)
  return reading(problems, {
    id,
    customerId: customerId ?? '',
    status,
    startedAt:
      instantOf(fields, 'start_date', problems) ??
      instantOf(fields, 'created', problems) ??
      instantOf(fields, 'start', problems),
    cancelAt: instantOf(fields, 'cancel_at', problems),
    cancelAtPeriodEnd: fields['cancel_at_period_end'] === true,
    canceledAt,
    endedAt: instantOf(fields, 'ended_at', problems) ?? (status === 'canceled' ? canceledAt : null),
    trialEnd: instantOf(fields, 'trial_end', problems),
    pause: pauseOf(fields, problems),
    statusDetail: statusDetailOf(fields, status),
    collection: collectionOf(fields),
    tenantId: tenantIdOf(fields['metadata']),
    items,
    unpaid: null,
    pausedUntil: null,
  })
}

/** An invoice as Stripe renders it in any API version. A preview (`invoice.upcoming`) has no id and is not read. */
export const readInvoice = (raw: unknown): Reading<Invoice> => {
  const fields = fieldsOf(raw)
  if (fields === null) return { kind: 'unrecognized', why: 'not an object' }
  const problems: string[] = []
  const id = ownId(fields, 'invoice', problems)
  const status = invoiceStatusOf(fields)
  if (status === null) problems.push('no status')
  const amountDue = amountOf(fields, 'amount_due', problems) ?? 0
  const amountPaid = amountOf(fields, 'amount_paid', problems) ?? (status === 'paid' ? amountDue : 0)
  const createdAt = instantOf(fields, 'created', problems) ?? instantOf(fields, 'date', problems)
  const transitions = fieldsOf(fields['status_transitions'])
  return reading(problems, {
    id,
    customerId: referenceOf(fields, 'customer', 'customer', problems),
    subscriptionId: invoiceSubscriptionOf(fields, problems),
    status: status ?? '',
    amountDue,
    amountPaid,
    amountRemaining: amountOf(fields, 'amount_remaining', problems) ?? Math.max(0, amountDue - amountPaid),
    currency: textOf(fields['currency']),
    collection: collectionOf(fields),
    billingReason: textOf(fields['billing_reason']),
    createdAt,
    dueAt: instantOf(fields, 'due_date', problems),
    // Shapes without transitions were final about an hour after they were made.
    finalizedAt: transitions
      ? instantOf(transitions, 'finalized_at', problems)
      : (instantOf(fields, 'finalized_at', problems) ?? (status === 'draft' ? null : createdAt)),
  })
}

/** A customer, whole or deleted (`{ id, deleted: true }`, answered with 200). */
export const readCustomer = (raw: unknown): Reading<Customer> => {
  const fields = fieldsOf(raw)
  if (fields === null) return { kind: 'unrecognized', why: 'not an object' }
  const problems: string[] = []
  const id = ownId(fields, 'customer', problems)
  return reading(problems, {
    id,
    deleted: fields['deleted'] === true,
    tenantId: tenantIdOf(fields['metadata']),
    testClockId: idOf(fields['test_clock']),
  })
}

/** `current` with its memory fields filled in. */
export const remember = (sight: Sight): Subscription => ({
  ...sight.current,
  unpaid: unpaidOf(sight),
  pausedUntil: pausedUntilOf(sight),
})

/** `pause_collection`; null where collection is not paused. */
export const pauseOf = (fields: Fields, problems: string[]): Subscription['pause'] => {
  const pause = fieldsOf(fields['pause_collection'])
  if (pause === null) return null
  return { behavior: textOf(pause['behavior']) ?? '', resumesAt: instantOf(pause, 'resumes_at', problems) }
}

/**
 * The items of a subscription: `items.data`, else (until 2015) the top-level plan and quantity as one item that
 * bears the subscription's id. Periods stand on the items since 2025-03-31.basil, before that on top.
 */
export const readItems = (fields: Fields, problems: string[]): Item[] => {
  const list = fieldsOf(fields['items'])
  const lines = Array.isArray(list?.['data']) ? list['data'].map((line) => fieldsOf(line) ?? {}) : null
  if (list?.['has_more'] === true) problems.push('items: only the first page')
  if (lines === null && idOf(fields['plan']) === null) return []
  const alone = lines === null || lines.length === 1
  const items = (lines ?? [{}]).map((line) => itemOf(line, fields, alone, problems))
  if (new Set(items.map((item) => item.id)).size < items.length) problems.push('items: the same id twice')
  return items
}

const itemOf = (line: Fields, top: Fields, alone: boolean, problems: string[]): Item => {
  // The top-level shortcut speaks for a sole item only; it is null as soon as there are two.
  const own = fieldsOf(line['price']) ?? fieldsOf(line['plan']) ?? idOf(line['price']) ?? idOf(line['plan'])
  const ref = own ?? (alone ? (fieldsOf(top['plan']) ?? idOf(top['plan'])) : null)
  const price = fieldsOf(ref)
  const id = idOf(line) ?? (alone ? idOf(top) : null)
  if (id === null) problems.push('items: one without id')
  const priceId = idOf(ref)
  if (priceId === null) problems.push(`item ${id}: no price`)
  const usages = [fieldsOf(price?.['recurring']), price, fieldsOf(line['plan'])].map(
    (by) => by?.['usage_type'],
  )
  const quantity = usages.includes('metered')
    ? null
    : quantityOf(own === null ? { ...top, ...line } : line, `item ${id}`, problems)
  return {
    id: id ?? '',
    priceId: priceId ?? '',
    lookupKey: textOf(price?.['lookup_key']),
    productId: idOf(price?.['product']),
    quantity,
    metered: quantity === null,
    periodStart:
      instantOf(line, 'current_period_start', problems) ?? instantOf(top, 'current_period_start', problems),
    periodEnd:
      instantOf(line, 'current_period_end', problems) ?? instantOf(top, 'current_period_end', problems),
  }
}

const unpaidOf = ({ previous, current, openInvoices, now }: Sight): Subscription['unpaid'] => {
  if (current.status !== 'past_due') return null
  const owed = openInvoices.filter(
    (invoice) =>
      invoice.subscriptionId === current.id && invoice.status === 'open' && invoice.amountRemaining > 0,
  )
  const known = previous?.unpaid ?? null
  if (known !== null && owed.some((invoice) => invoice.id === known.invoiceId)) return known
  const due = owed
    .map((invoice) => ({ invoiceId: invoice.id, since: owedSince(invoice) ?? now }))
    .filter(({ since }) => since <= now)
    .toSorted((a, b) => a.since - b.since || (a.invoiceId < b.invoiceId ? -1 : 1))
  const [oldest] = due
  if (oldest !== undefined) return oldest
  return known !== null && known.invoiceId === null ? known : { invoiceId: null, since: now }
}

/** The due date of an invoice that is sent, else when it was finalised. */
const owedSince = (invoice: Invoice): Instant | null =>
  (invoice.collection === 'send_invoice' ? invoice.dueAt : null) ?? invoice.finalizedAt ?? invoice.createdAt

const pausedUntilOf = ({ previous, current }: Sight): Instant | null => {
  if (current.pause === null) return null
  const known = previous?.pause ? previous.pausedUntil : null
  return known ?? earliest(...current.items.map((item) => item.periodEnd))
}

const reading = <T>(problems: string[], value: T): Reading<T> =>
  problems.length === 0 ? { kind: 'read', value } : { kind: 'unrecognized', why: problems.join('; ') }

const ownId = (fields: Fields, kind: Kind, problems: string[]): string => {
  const id = isPrintableId(fields['id']) ? fields['id'] : null
  if (id === null) problems.push('no id')
  if (isOfOtherKind(fields, kind)) problems.push(`not of kind ${kind}`)
  return id ?? ''
}

const referenceOf = (fields: Fields, key: string, kind: Kind, problems: string[]): string | null => {
  if (isOfOtherKind(fields[key], kind)) problems.push(`${key}: id of wrong kind`)
  return idOf(fields[key])
}

const invoiceSubscriptionOf = (fields: Fields, problems: string[]): string | null => {
  const details = fieldsOf(fieldsOf(fields['parent'])?.['subscription_details']) ?? {}
  const legacy = referenceOf(fields, 'subscription', 'subscription', problems)
  const parent = referenceOf(details, 'subscription', 'subscription', problems)
  if (legacy !== null && parent !== null && legacy !== parent) problems.push('contradictory subscriptions')
  return parent ?? legacy
}

/** Until 2018-11-08 flags stood for the status. */
const invoiceStatusOf = (fields: Fields): string | null => {
  const status = fields['status'] ?? null
  if (status !== null) return textOf(status)
  if (fields['paid'] === true) return 'paid'
  if (fields['forgiven'] === true) return 'uncollectible'
  return typeof fields['paid'] === 'boolean' ? 'open' : null
}

const statusDetailOf = (fields: Fields, status: string): string | null =>
  status === 'canceled'
    ? textOf(fieldsOf(fields['cancellation_details'])?.['reason'])
    : textOf(fieldsOf(fieldsOf(fieldsOf(fields['status_details'])?.['paused'])?.['subscription'])?.['type'])

/** `collection_method`; `billing` until 2019. */
const collectionOf = (fields: Fields): Subscription['collection'] =>
  (fields['collection_method'] ?? fields['billing']) === 'send_invoice'
    ? 'send_invoice'
    : 'charge_automatically'
