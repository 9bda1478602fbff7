// The business verbs of one account, as tests use them. Each changes the state, emits the events that Stripe
// would, and answers the wire object (newest API version) as it is afterwards. Times are milliseconds.

import * as catalog from './life/catalog.ts'
import { checkout, settleCheckout } from './life/checkout.ts'
import type { CheckoutInput } from './life/checkout.ts'
import { openDispute, refundCharge } from './life/charges.ts'
import * as lifecycle from './life/lifecycle.ts'
import * as customers from './life/customers.ts'
import * as verbs from './life/invoice-verbs.ts'
import type { Payment } from './life/invoices.ts'
import { findWire } from './http/lookup.ts'
import { render } from './wire/render.ts'
import { invoiceWire } from './wire/invoice.ts'
import { sessionWire } from './wire/checkout.ts'
import { disputeWire, refundWire } from './wire/money-back.ts'
import { clockWire, customerWire, deletedCustomerWire, priceWire, productWire } from './wire/catalog.ts'
import { subscriptionWire } from './wire/subscription.ts'
import { ownedBy } from './state.ts'
import type { InvoiceState, Metadata, PriceState, SessionState, SubState } from './records.ts'
import * as subscriptions from './life/subscriptions.ts'
import type { SubscribeOptions, UpdateOptions } from './life/subscriptions.ts'
import { LATEST_VERSION, need } from './world.ts'
import type { EventExtra, StripeEvent, World } from './world.ts'

export type Shop = ReturnType<typeof openShop>

export const openShop = (world: World) => {
  const wireSub = (sub: SubState) => render(subscriptionWire(world, sub), LATEST_VERSION)
  const wireInvoice = (invoice: InvoiceState) => render(invoiceWire(world, invoice), LATEST_VERSION)
  const forInvoice = <T>(id: string, verb: () => T) =>
    world.mutate(need(world, 'invoice', id, 'invoice').customer, verb)
  const sold = (session: SessionState) => soldThrough(world, session)

  return {
    ...shelf(world),
    ...subscriptionVerbs(world),
    checkout: (input: CheckoutInput) => sold(checkout(world, input)),
    settleCheckout: (id: string, payment: Payment) =>
      sold(world.mutate(need(world, 'session', id).customer ?? '', () => settleCheckout(world, id, payment))),

    invoice: (input: { customer: string; amount: number; payment?: Payment | 'open' }) =>
      wireInvoice(world.mutate(input.customer, () => verbs.oneOffInvoice(world, input))),
    payInvoice: (id: string) => wireInvoice(forInvoice(id, () => verbs.payInvoice(world, id))),
    voidInvoice: (id: string) => wireInvoice(forInvoice(id, () => verbs.voidInvoice(world, id))),
    markUncollectible: (id: string) => wireInvoice(forInvoice(id, () => verbs.markUncollectible(world, id))),
    refund: (invoiceId: string, amount?: number) =>
      refundWire(forInvoice(invoiceId, () => refundCharge(world, chargeOf(world, invoiceId), amount))),
    dispute: (invoiceId: string) =>
      disputeWire(
        world,
        forInvoice(invoiceId, () => openDispute(world, chargeOf(world, invoiceId))),
      ),

    /** For the oracle: the host product said so itself, past Stripe. */
    linkedByHost: (customer: string, tenant: string) =>
      void world.evidence.push({ customer, tenant, source: 'host' }),
    /** Every automatic payment of this customer fails from now on (or works again). */
    failPayments: (customer: string, fails: boolean) =>
      void (need(world, 'customer', customer).failPayments = fails),
    tick: () => lifecycle.tick(world),
    /** Any event, also one that Stripe would never send. */
    emit: (type: string, object: object, extra?: EventExtra): StripeEvent =>
      world.emit(type, object, { ...extra, forged: true }),
    events: (): StripeEvent[] => [...world.events],

    subscription: (id: string) => wireSub(need(world, 'subscription', id)),
    subscriptionsOf: (customer: string) => ownedBy(world.store, customer, 'subscription').map(wireSub),
    invoicesOf: (customer: string) => ownedBy(world.store, customer, 'invoice').map(wireInvoice),
    /** Any object by its id, in the newest version, or undefined. */
    find: (id: string) => {
      const wire = findWire(world, id)
      return wire === null ? undefined : (render(wire, LATEST_VERSION) as Record<string, unknown>)
    },
    account: world.account,
    /** The simulator's own state: for the oracle. Read it, do not change it. */
    world,
  }
}

const subscriptionVerbs = (world: World) => {
  const wireSub = (sub: SubState) => render(subscriptionWire(world, sub), LATEST_VERSION)
  const forSub = (id: string, verb: () => SubState) =>
    wireSub(world.mutate(need(world, 'subscription', id).customer, verb))
  return {
    subscribe: (customer: string, options: SubscribeOptions) =>
      wireSub(world.mutate(customer, () => subscriptions.subscribe(world, customer, options))),
    updateSubscription: (id: string, options: UpdateOptions) =>
      forSub(id, () => {
        if (options.trialEnd === 'now') lifecycle.endTrial(world, id)
        return subscriptions.updateSubscription(world, id, options)
      }),
    cancel: (id: string) => forSub(id, () => subscriptions.cancelSubscription(world, id)),
    renew: (id: string, how: { payment: Payment }) =>
      forSub(id, () => lifecycle.renew(world, id, how.payment)),
    endTrial: (id: string, how: { payment: Payment } | 'pause') =>
      forSub(id, () => lifecycle.endTrial(world, id, how)),
    pauseSubscription: (id: string) => forSub(id, () => subscriptions.pauseSubscription(world, id)),
    resume: (id: string) => forSub(id, () => lifecycle.resumeSubscription(world, id)),
    exhaustRetries: (id: string, to: 'unpaid' | 'canceled') =>
      forSub(id, () => lifecycle.exhaustRetries(world, id, to)),
    expireIncomplete: (id: string) => forSub(id, () => lifecycle.expireIncomplete(world, id)),
  }
}

const shelf = (world: World) => ({
  product: (input: catalog.ProductInput | string = {}) =>
    productWire(world, catalog.createProduct(world, typeof input === 'string' ? { id: input } : input)),
  price: (input: catalog.PriceInput = {}) => priceWire(world, catalog.createPrice(world, input)),
  updatePrice: (
    id: string,
    patch: Pick<Partial<PriceState>, 'lookupKey' | 'active'> & { transferLookupKey?: boolean },
  ) => priceWire(world, catalog.updatePrice(world, id, patch)),
  customer: (input: customers.CustomerInput = {}) =>
    customerWire(world, customers.createCustomer(world, input)),
  updateCustomer: (id: string, patch: { metadata?: Metadata; email?: string }) =>
    customerWire(
      world,
      world.mutate(id, () => customers.updateCustomer(world, id, patch)),
    ),
  deleteCustomer: (id: string) =>
    deletedCustomerWire(world.mutate(id, () => customers.deleteCustomer(world, id))),
  /** Moves a test clock and applies what that makes due. */
  advanceTestClock: (id: string, frozenTimeMs: number) => {
    const clock = need(world, 'clock', id)
    clock.frozenTime = subscriptions.toSeconds(frozenTimeMs)
    clock.advancing = true
    world.emit('test_helpers.test_clock.advancing', clockWire(world, clock))
    lifecycle.tick(world)
    clock.advancing = false
    world.emit('test_helpers.test_clock.ready', clockWire(world, clock))
    return clockWire(world, clock)
  },
})

const chargeOf = (world: World, invoiceId: string) => {
  const invoice = need(world, 'invoice', invoiceId, 'invoice')
  if (invoice.charge === null) throw new Error(`Invoice ${invoiceId} has no successful charge.`)
  return need(world, 'charge', invoice.charge)
}

const soldThrough = (world: World, session: SessionState) => {
  const customer = need(world, 'customer', session.customer ?? '')
  const sub = session.subscription === null ? undefined : world.store.subscription.get(session.subscription)
  return {
    session: sessionWire(world, session),
    customer: customerWire(world, customer),
    ...(sub === undefined ? {} : { subscription: render(subscriptionWire(world, sub), LATEST_VERSION) }),
  }
}
