// The dozen tenants of the demo and what happens to them in their first two months, day by day, in Stripe's words. Days
// count from the first. The order specs live through these two months, too; later-months.ts goes on.
import type { Shop } from '../stripe-sim/sim.ts'

export type Tenant = { id: string; story: string }

export const TENANTS: readonly Tenant[] = [
  { id: 'acme', story: 'buys pro for 3, grows and grows' },
  { id: 'bolt', story: 'upgrades, later wants a refund' },
  { id: 'crux', story: 'a payment fails, recovers in the grace' },
  { id: 'dune', story: 'a payment fails for good; pays late' },
  { id: 'echo', story: 'cancels at the end of the period' },
  { id: 'fern', story: 'trial, pays; cancels and thinks again' },
  { id: 'gale', story: 'cancels in the trial, returns for an hour' },
  { id: 'hush', story: 'pays by a slow method, later downgrades' },
  { id: 'iris', story: 'made in the Dashboard, linked by our API' },
  { id: 'jade', story: 'linked by metadata; pauses collection' },
  { id: 'kite', story: 'pays by the year, mapped by lookup key' },
  { id: 'luna', story: 'leaves, comes back, is deleted' },
]

type Ids = { customer: string; subscription: string }

/** What a day does; `link` is the host product's own call (PUT /v1/tenants/:tenant/customer). */
export type Stage = {
  shop: Shop
  known: Map<string, Ids>
  link: (tenant: string, customer: string) => Promise<void>
}

export type Day = {
  day: number
  title: string
  act: (stage: Stage) => Promise<void> | void
  /** The newest event arrives first. */
  backwards?: true
}

// Renewals fall 28 to 31 days after a purchase, whatever month the demo begins in: the days below leave room for that.
export const FIRST_MONTHS: readonly Day[] = [
  { day: 0, title: 'acme, bolt and echo sign up through Checkout', act: firstSales },
  { day: 2, title: 'four more; fern and gale on trial', act: moreSales },
  { day: 4, title: 'kite by the year, hush by a slow payment, iris from the Dashboard', act: oddSales },
  { day: 5, title: 'the slow payment arrives; gale cancels in the trial', act: slowPayment },
  { day: 7, title: 'the product links iris by our API: what waited goes on', act: linkIris },
  { day: 11, title: 'acme takes 10 seats, bolt upgrades, luna cancels at once', act: upgrades },
  { day: 16, title: 'trials end: fern pays, gale is gone', act: () => {} },
  { day: 28, title: 'renewals; the cards of crux and dune expire', act: cardsFail },
  { day: 34, title: 'Stripe tries those cards again, in vain', act: () => {} },
  { day: 36, title: 'crux pays in time', act: recovery },
  { day: 38, title: 'nobody writes, time passes: the grace of dune ends', act: () => {} },
  { day: 46, title: 'dune is given up: unpaid', act: givenUp },
  { day: 50, title: 'echo cancels at the end of the period; luna returns with pro', act: goAndCome },
  { day: 55, title: 'dune pays after all', act: latePayment },
  { day: 58, title: 'renewals; what was cancelled ends', act: () => {} },
  { day: 64, title: 'echo is gone, the others have paid again', act: () => {} },
]

export const idsOf = ({ known }: Stage, tenant: string): Ids => {
  const ids = known.get(tenant)
  if (ids === undefined) throw new Error(`the demo does not know ${tenant} yet`)
  return ids
}

type Sale = { tenant: string; price: string; quantity?: number; trialDays?: number; delayedPayment?: boolean }

const buy = ({ shop, known }: Stage, { tenant, price, quantity = 1, ...rest }: Sale) => {
  const sold = shop.checkout({ tenant, items: [{ price, quantity }], ...rest })
  known.set(tenant, { customer: sold.customer.id, subscription: sold.subscription?.id ?? '' })
}

/** A tenant that left subscribes again. */
export const returnWith = (stage: Stage, tenant: string, price: string, quantity: number) => {
  const { customer } = idsOf(stage, tenant)
  const { id } = stage.shop.subscribe(customer, { items: [{ price, quantity }] })
  stage.known.set(tenant, { customer, subscription: id })
}

function firstSales(stage: Stage) {
  buy(stage, { tenant: 'acme', price: 'price_pro', quantity: 3 })
  buy(stage, { tenant: 'bolt', price: 'price_basic' })
  buy(stage, { tenant: 'echo', price: 'price_basic' })
}

function moreSales(stage: Stage) {
  buy(stage, { tenant: 'crux', price: 'price_basic' })
  buy(stage, { tenant: 'dune', price: 'price_pro', quantity: 2 })
  buy(stage, { tenant: 'fern', price: 'price_pro', trialDays: 14 })
  buy(stage, { tenant: 'gale', price: 'price_pro', trialDays: 14 })
}

function oddSales(stage: Stage) {
  const { shop, known } = stage
  buy(stage, { tenant: 'hush', price: 'price_pro', delayedPayment: true })
  buy(stage, { tenant: 'kite', price: 'price_pro_yearly', quantity: 25 })
  buy(stage, { tenant: 'luna', price: 'price_basic' })
  const iris = shop.customer({ email: 'billing@iris.example' })
  known.set('iris', {
    customer: iris.id,
    subscription: shop.subscribe(iris.id, { items: [{ price: 'price_basic' }] }).id,
  })
  const jade = shop.customer({ metadata: { tenant_id: 'jade' } })
  known.set('jade', {
    customer: jade.id,
    subscription: shop.subscribe(jade.id, { items: [{ price: 'price_pro', quantity: 4 }] }).id,
  })
}

function slowPayment(stage: Stage) {
  const session = stage.shop.events().findLast(({ type, data }) => {
    const object = data.object as { client_reference_id?: string }
    return type === 'checkout.session.completed' && object.client_reference_id === 'hush'
  })
  if (session === undefined) throw new Error('hush has not been through Checkout')
  stage.shop.settleCheckout((session.data.object as { id: string }).id, 'paid')
  stage.shop.updateSubscription(idsOf(stage, 'gale').subscription, { cancelAtPeriodEnd: true })
}

function linkIris(stage: Stage) {
  return stage.link('iris', idsOf(stage, 'iris').customer)
}

function upgrades(stage: Stage) {
  stage.shop.updateSubscription(idsOf(stage, 'acme').subscription, { quantity: 10 })
  stage.shop.updateSubscription(idsOf(stage, 'bolt').subscription, {
    items: [{ price: 'price_pro', quantity: 1 }],
  })
  stage.shop.cancel(idsOf(stage, 'luna').subscription)
}

function cardsFail(stage: Stage) {
  for (const tenant of ['crux', 'dune']) stage.shop.failPayments(idsOf(stage, tenant).customer, true)
}

/** The card works again, and what is owed is paid. */
const payUp = ({ shop, ...stage }: Stage, tenant: string) => {
  const { customer } = idsOf({ shop, ...stage }, tenant)
  shop.failPayments(customer, false)
  const invoice = shop.invoicesOf(customer).find(({ status }) => status === 'open')
  if (invoice === undefined) throw new Error(`${tenant} has no open invoice`)
  shop.payInvoice(invoice.id ?? '')
}

function recovery(stage: Stage) {
  payUp(stage, 'crux')
}

function givenUp(stage: Stage) {
  stage.shop.exhaustRetries(idsOf(stage, 'dune').subscription, 'unpaid')
}

function goAndCome(stage: Stage) {
  stage.shop.updateSubscription(idsOf(stage, 'echo').subscription, { cancelAtPeriodEnd: true })
  returnWith(stage, 'luna', 'price_pro', 2)
}

function latePayment(stage: Stage) {
  payUp(stage, 'dune')
}
