// Subscriptions: begin, change, pause, cancel. What time does to them is in lifecycle.ts. Verbs take
// milliseconds (like the simulated clock); the state keeps seconds.

import { invalid, missing } from '../errors.ts'
import { discountSubscription } from './coupons.ts'
import { announceInvoice, collectInvoice, DAYS_UNTIL_DUE, draftInvoice, finalizeInvoice } from './invoices.ts'
import type { InvoiceDraft, Payment } from './invoices.ts'
import { newItem, patchItem, replaceItems } from './items.ts'
import { chooseMethod } from './methods.ts'
import { extendTrial, TRIAL_WARNING, warnOfTrialEnd } from './trials.ts'
import type { ItemPatch, NewItem } from './items.ts'
import { subscriptionWire } from '../wire/subscription.ts'
import { put } from '../state.ts'
import type { Collection, InvoiceState, ItemState, Metadata, PauseBehavior, SubState } from '../records.ts'
import { changing, liveCustomer, need, noteLink } from '../world.ts'
import type { World } from '../world.ts'

const DAY = 86_400

export type SubscribeOptions = {
  items: NewItem[]
  trialDays?: number
  metadata?: Metadata
  collection?: Collection
  daysUntilDue?: number
  /** `processing`: a delayed method; `open`: nobody tries. The invoice stays open. Default: what the customer's method does. */
  firstPayment?: Payment | 'open' | 'processing'
  backdateMs?: number
  /** Other than `create_invoice`: for a customer with nothing to pay with, which verbs then make it. */
  onTrialEnd?: SubState['trialEndBehavior']
  defaultMethod?: string
  schedule?: string
  coupon?: string
  /** As Checkout does it: born incomplete, active by an update. */
  bornIncomplete?: boolean
}
export type UpdateOptions = {
  items?: { price: string; quantity?: number }[]
  quantity?: number
  cancelAt?: number | null
  cancelAtPeriodEnd?: boolean
  trialEnd?: number | 'now'
  pause?: { behavior: PauseBehavior; resumesAt?: number } | null
  metadata?: Metadata
  defaultMethod?: string | null
  /** Null takes the discount away. */
  coupon?: string | null
}

export const subscribe = (world: World, customerId: string, options: SubscribeOptions): SubState => {
  const customer = liveCustomer(world, customerId)
  if (options.onTrialEnd !== undefined && options.onTrialEnd !== 'create_invoice') customer.unseenCard = false
  if (options.items.length === 0) throw invalid('Missing required param: items.', 'items')
  const now = world.now(customerId)
  const trialEnd = options.trialDays === undefined ? null : now + Math.round(options.trialDays * DAY)
  const sub: SubState = {
    id: world.id('sub'),
    created: now,
    customer: customerId,
    status: trialEnd === null ? 'active' : 'trialing',
    items: options.items.map((item) => newItem(world, item, now, trialEnd)),
    metadata: { ...options.metadata },
    startDate: now - Math.floor((options.backdateMs ?? 0) / 1000),
    anchor: trialEnd ?? now,
    cancelAt: null,
    cancelAtPeriodEnd: false,
    canceledAt: null,
    endedAt: null,
    cancelReason: null,
    collection: options.collection ?? 'charge_automatically',
    daysUntilDue: options.daysUntilDue ?? DAYS_UNTIL_DUE,
    defaultMethod: options.defaultMethod ?? null,
    discount: null,
    schedule: options.schedule ?? null,
    trialStart: trialEnd === null ? null : now,
    trialEnd,
    trialEndBehavior: options.onTrialEnd ?? 'create_invoice',
    trialWillEndSent: false,
    pause: null,
    pastDueSince: null,
    latestInvoice: null,
  }
  put(world.store, 'subscription', sub)
  if (options.coupon !== undefined) discountSubscription(world, sub, options.coupon)
  noteLink(world, customerId, sub.metadata['tenant_id'])
  beginBilling(world, sub, options)
  if (trialEnd !== null && trialEnd - now <= TRIAL_WARNING) warnOfTrialEnd(world, sub)
  return sub
}

// The first invoice. A trial's is zero and paid; a sent one is open and costs no access. Born incomplete where the
// payment is still to be made, and active by an update.
const beginBilling = (world: World, sub: SubState, options: SubscribeOptions): void => {
  const invoice = draftInvoice(world, draftFor(world, sub, sub.items, 'subscription_create'))
  const collected = sub.collection === 'charge_automatically'
  const { firstPayment } = options
  const chosen = chooseMethod(world, sub.customer, sub).outcome
  const pays =
    firstPayment === undefined ? chosen === 'succeeds' || chosen === 'inquiry' : firstPayment === 'paid'
  if (collected && invoice.amount > 0 && (!pays || options.bornIncomplete === true)) sub.status = 'incomplete'
  world.emit('customer.subscription.created', subscriptionWire(world, sub))
  announceInvoice(world, invoice)
  finalizeInvoice(world, invoice)
  if (invoice.amount > 0 && (!collected || firstPayment === 'open')) return
  if (collectInvoice(world, invoice, firstPayment === 'open' ? undefined : firstPayment) !== 'paid') return
  if (sub.status !== 'incomplete') return
  changing(
    world,
    'customer.subscription.updated',
    () => subscriptionWire(world, sub),
    () => void (sub.status = 'active'),
  )
}

export const updateSubscription = (world: World, id: string, options: UpdateOptions): SubState => {
  const sub = liveSub(world, id)
  const patches = options.items
  changeSub(world, sub, () => {
    if (patches !== undefined) replaceItems(world, sub, patches)
    applyOptions(world, sub, options)
  })
  return sub
}

/** The API's way to change items: by item id, the rest stays. */
export const patchItems = (world: World, id: string, patches: ItemPatch[]): SubState => {
  const sub = liveSub(world, id)
  changeSub(world, sub, () => {
    for (const patch of patches) patchItem(world, sub, patch)
    if (sub.items.length === 0) throw invalid('A subscription must have at least one active plan.', 'items')
  })
  return sub
}

export const cancelSubscription = (
  world: World,
  id: string,
  reason: SubState['cancelReason'] = 'cancellation_requested',
): SubState => {
  const sub = liveSub(world, id)
  const now = world.now(sub.customer)
  // Ended before the end that was asked for: as recorded, the plan to end is gone.
  if (sub.cancelAtPeriodEnd && sub.cancelAt !== null && now < sub.cancelAt) {
    sub.cancelAtPeriodEnd = false
    sub.cancelAt = null
  }
  sub.status = 'canceled'
  sub.endedAt = now
  sub.canceledAt ??= now
  sub.cancelReason ??= reason
  sub.pastDueSince = null
  world.emit('customer.subscription.deleted', subscriptionWire(world, sub))
  return sub
}

export const pauseSubscription = (world: World, id: string): SubState => {
  const sub = liveSub(world, id)
  changeSub(world, sub, () => void (sub.status = 'paused'))
  world.emit('customer.subscription.paused', subscriptionWire(world, sub))
  return sub
}

export const changeSub = <T>(world: World, sub: SubState, change: () => T): T =>
  changing(world, 'customer.subscription.updated', () => subscriptionWire(world, sub), change)

export const liveSub = (world: World, id: string): SubState => {
  const sub = need(world, 'subscription', id)
  // Stripe answers like this for ended subscriptions.
  if (sub.endedAt !== null) throw missing('subscription', id)
  return sub
}

export const earliestEnd = (sub: SubState): number => Math.min(...sub.items.map((item) => item.periodEnd))

export const draftFor = (
  world: World,
  sub: SubState,
  items: ItemState[],
  reason: InvoiceState['reason'],
): InvoiceDraft => ({
  customer: sub.customer,
  sub,
  reason,
  collection: sub.collection,
  daysUntilDue: sub.daysUntilDue,
  currency: currencyOf(world, items),
  lines: items.map((item) => {
    const price = need(world, 'price', item.price)
    const amount = sub.status === 'trialing' ? 0 : price.unitAmount * (item.quantity ?? 0)
    return {
      price: item.price,
      item: item.id,
      invoiceItem: null,
      description: null,
      quantity: item.quantity,
      amount,
      start: item.periodStart,
      end: item.periodEnd,
    }
  }),
})

const currencyOf = (world: World, items: ItemState[]): string =>
  items[0] === undefined ? 'usd' : need(world, 'price', items[0].price).currency

const applyOptions = (world: World, sub: SubState, options: UpdateOptions): void => {
  const now = world.now(sub.customer)
  const first = sub.items[0]
  if (options.quantity !== undefined && first !== undefined) first.quantity = options.quantity
  if (options.metadata !== undefined) {
    sub.metadata = mergeMetadata(sub.metadata, options.metadata)
    noteLink(world, sub.customer, options.metadata['tenant_id'])
  }
  if (options.defaultMethod !== undefined) sub.defaultMethod = options.defaultMethod
  if (options.coupon !== undefined) discountSubscription(world, sub, options.coupon)
  if (options.pause !== undefined) {
    const resumesAt = options.pause?.resumesAt
    sub.pause =
      options.pause === null
        ? null
        : {
            behavior: options.pause.behavior,
            resumesAt: resumesAt === undefined ? null : toSeconds(resumesAt),
          }
  }
  if (typeof options.trialEnd === 'number') extendTrial(sub, toSeconds(options.trialEnd), now)
  if (options.cancelAtPeriodEnd !== undefined) {
    sub.cancelAtPeriodEnd = options.cancelAtPeriodEnd
    scheduleEnd(sub, options.cancelAtPeriodEnd ? earliestEnd(sub) : null, now)
  }
  if (options.cancelAt !== undefined) {
    sub.cancelAtPeriodEnd = false
    scheduleEnd(sub, options.cancelAt === null ? null : toSeconds(options.cancelAt), now)
  }
}

const scheduleEnd = (sub: SubState, end: number | null, now: number): void => {
  sub.cancelAt = end
  sub.canceledAt = end === null ? null : now
  sub.cancelReason = end === null ? null : 'cancellation_requested'
}

export const mergeMetadata = (old: Metadata, patch: Metadata): Metadata =>
  Object.fromEntries(Object.entries({ ...old, ...patch }).filter(([, value]) => value !== ''))

export const toSeconds = (ms: number): number => Math.floor(ms / 1000)
