// From an id to its wire object, and `expand[]`: replaces ids in a response by the objects they name.

import { invalid } from '../errors.ts'
import { sessionWire, invoicePaymentWire } from '../wire/checkout.ts'
import {
  clockWire,
  customerWire,
  deletedCustomerWire,
  embeddedList,
  priceWire,
  productWire,
} from '../wire/catalog.ts'
import { couponWire, discountWire } from '../wire/discounts.ts'
import { endpointWire } from '../wire/endpoint.ts'
import { invoiceItemWire, invoiceWire } from '../wire/invoice.ts'
import { disputeWire, refundWire } from '../wire/money-back.ts'
import { chargeWire } from '../wire/charge.ts'
import { intentWire, methodWire, secretOf, setupIntentWire } from '../wire/payments.ts'
import { scheduleWire } from '../wire/schedule.ts'
import { subscriptionWire } from '../wire/subscription.ts'
import { ownedBy } from '../state.ts'
import type { Store } from '../state.ts'
import type { World } from '../world.ts'

type Hash = Record<string, unknown>
type Finder = (world: World, id: string) => object | null

// A record or null, made into a wire object by its kind.
const found = <T>(record: T | undefined, wire: (record: T) => object): object | null =>
  record === undefined ? null : wire(record)

function findDiscount(world: World, id: string): object | null {
  for (const sub of world.store.subscription.values()) {
    if (sub.discount?.id === id)
      return discountWire(sub.discount, { customer: sub.customer, subscription: sub.id })
  }
  for (const customer of world.store.customer.values()) {
    if (customer.discount?.id === id) return discountWire(customer.discount, { customer: customer.id })
  }
  return null
}

const FINDERS: Record<string, Finder> = {
  cus: (w, id) =>
    found(w.store.customer.get(id), (r) => (r.deleted ? deletedCustomerWire(r) : customerWire(w, r))),
  prod: (w, id) => found(w.store.product.get(id), (r) => productWire(w, r)),
  price: (w, id) => found(w.store.price.get(id), (r) => priceWire(w, r)),
  sub: (w, id) =>
    id.startsWith('sub_sched_')
      ? found(w.store.schedule.get(id), (r) => scheduleWire(w, r))
      : found(w.store.subscription.get(id), (r) => subscriptionWire(w, r)),
  ii: (w, id) => found(w.store.invoiceItem.get(id), (r) => invoiceItemWire(w, r)),
  pm: (w, id) => found(w.store.method.get(id), (r) => methodWire(w, r)),
  pi: (w, id) => found(w.store.intent.get(id), (r) => intentWire(w, r)),
  seti: (w, id) => found(w.store.setupIntent.get(id), (r) => setupIntentWire(w, r)),
  we: (w, id) => found(w.store.endpoint.get(id), (r) => endpointWire(w, r)),
  di: findDiscount,
  in: (w, id) => found(w.store.invoice.get(id), (r) => invoiceWire(w, r)),
  ch: (w, id) => found(w.store.charge.get(id), (r) => chargeWire(w, r)),
  re: (w, id) => found(w.store.refund.get(id), (r) => refundWire(r)),
  du: (w, id) => found(w.store.dispute.get(id), (r) => disputeWire(w, r)),
  cs: (w, id) => found(w.store.session.get(id), (r) => sessionWire(w, r)),
  clock: (w, id) => found(w.store.clock.get(id), (r) => clockWire(w, r)),
}

// Tests choose ids freely (`price_pro`, `cus_a`), so the prefix finds the kind and the store decides.
export const findWire = (world: World, id: string): object | null => {
  const coupon = world.store.coupon.get(id)
  if (coupon !== undefined) return couponWire(world, coupon)
  return FINDERS[id.split('_')[0] ?? '']?.(world, id) ?? null
}

/** The world with another store: what a stale read sees. */
export const worldWith = (world: World, store: Store): World => ({ ...world, store })

export const expand = (world: World, body: object, paths: string[]): object => {
  const copy = structuredClone(body)
  for (const path of paths) expandPath(world, copy as Hash, path.split('.'), path)
  return copy
}

const named = (world: World, value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((each) => named(world, each))
  return typeof value === 'string' ? (findWire(world, value) ?? value) : value
}

const expandPath = (world: World, target: Hash, steps: string[], path: string): void => {
  const [step, ...rest] = steps
  if (step === undefined) return
  if (!(step in target)) {
    const included = include(world, target, step)
    if (included === undefined) throw invalid(`This property cannot be expanded (${path}).`, 'expand[]')
    target[step] = included
  }
  target[step] = named(world, target[step])
  const next = target[step]
  for (const each of Array.isArray(next) ? next : [next]) {
    if (typeof each === 'object' && each !== null && rest.length > 0) {
      if (!('deleted' in each)) expandPath(world, each as Hash, rest, path)
    }
  }
}

const NO_TAX_LOCATION = {
  automatic_tax: 'unrecognized_location',
  ip_address: null,
  location: null,
  provider: 'stripe',
}

// What is absent unless asked for.
const include = (world: World, target: Hash, key: string): object | null | undefined => {
  const id = String(target['id'])
  if (target['object'] === 'customer' && key === 'subscriptions') {
    const live = ownedBy(world.store, id, 'subscription').filter((sub) => sub.endedAt === null)
    return embeddedList(
      live.map((sub) => subscriptionWire(world, sub)),
      `/v1/customers/${id}/subscriptions`,
    )
  }
  if (target['object'] === 'customer' && key === 'tax') return NO_TAX_LOCATION
  if (target['object'] === 'customer' && key === 'invoice_credit_balance') return {}
  const invoice = target['object'] === 'invoice' ? world.store.invoice.get(id) : undefined
  if (invoice !== undefined && key === 'payments') {
    const data = invoice.payment === null ? [] : [invoicePaymentWire(world, invoice)]
    return { object: 'list', data, has_more: false, url: '/v1/invoice_payments' }
  }
  if (invoice !== undefined && key === 'confirmation_secret') {
    const intent = invoice.paymentIntent
    return intent === null ? null : { client_secret: secretOf(intent), type: 'payment_intent' }
  }
  if (target['object'] === 'charge' && key === 'refunds') {
    const refunds = [...world.store.refund.values()].filter((refund) => refund.charge === id)
    return embeddedList(refunds.map(refundWire), `/v1/charges/${id}/refunds`)
  }
  return undefined
}
