// The dozen tenants of the demo and what happens to them, day by day, in Stripe's words. Days count from the first.
import type { Shop } from './stripe-sim/sim.ts'

export type Tenant = { id: string; story: string }

export const TENANTS: readonly Tenant[] = [
  { id: 'acme', story: 'buys pro for 3, grows to 10 seats' },
  { id: 'bolt', story: 'buys basic, upgrades to pro' },
  { id: 'crux', story: 'a payment fails, then recovers within the grace' },
  { id: 'dune', story: 'a payment fails for good: suspended, pays late' },
  { id: 'echo', story: 'cancels at the end of the period' },
  { id: 'fern', story: 'trial, then pays' },
  { id: 'gale', story: 'trial, cancels during it' },
  { id: 'hush', story: 'pays by a slow method: pending, then active' },
  { id: 'iris', story: 'made in the Dashboard: linked by our API' },
  { id: 'jade', story: 'linked by metadata of the customer' },
  { id: 'kite', story: 'buys by the year, mapped by lookup key' },
  { id: 'luna', story: 'cancels at once, comes back on another plan' },
]

type Ids = { customer: string; subscription: string }

/** What a day does; `link` is the host product's own call (PUT /v1/tenants/:tenant/customer). */
export type Stage = {
  shop: Shop
  known: Map<string, Ids>
  link: (tenant: string, customer: string) => Promise<void>
}

export type Day = { day: number; title: string; act: (stage: Stage) => Promise<void> | void }

export const DAYS: readonly Day[] = [
  { day: 0, title: 'sign-up', act: signUp },
  { day: 3, title: 'links, slow payments, a change of mind', act: firstWeek },
  { day: 9, title: 'upgrades', act: upgrades },
  { day: 20, title: 'trials end', act: () => {} },
  { day: 32, title: 'renewal: two payments fail', act: renewals },
  { day: 35, title: 'one recovers in time', act: recovery },
  { day: 44, title: 'the other is given up', act: givenUp },
  { day: 50, title: 'a cancellation, a return, a late payment', act: lateNews },
  { day: 63, title: 'the next renewal; what was cancelled has ended', act: () => {} },
]

const idsOf = ({ known }: Stage, tenant: string): Ids => {
  const ids = known.get(tenant)
  if (ids === undefined) throw new Error(`the demo does not know ${tenant} yet`)
  return ids
}

type Sale = { tenant: string; price: string; quantity?: number; trialDays?: number; delayedPayment?: boolean }

const buy = ({ shop, known }: Stage, { tenant, price, quantity = 1, ...rest }: Sale) => {
  const sold = shop.checkout({ tenant, items: [{ price, quantity }], ...rest })
  known.set(tenant, { customer: sold.customer.id, subscription: sold.subscription?.id ?? '' })
}

function signUp(stage: Stage) {
  const { shop, known } = stage
  buy(stage, { tenant: 'acme', price: 'price_pro', quantity: 3 })
  buy(stage, { tenant: 'bolt', price: 'price_basic' })
  buy(stage, { tenant: 'crux', price: 'price_basic' })
  buy(stage, { tenant: 'dune', price: 'price_pro', quantity: 2 })
  buy(stage, { tenant: 'echo', price: 'price_basic' })
  buy(stage, { tenant: 'fern', price: 'price_pro', trialDays: 14 })
  buy(stage, { tenant: 'gale', price: 'price_pro', trialDays: 14 })
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

async function firstWeek(stage: Stage) {
  await stage.link('iris', idsOf(stage, 'iris').customer)
  const session = stage.shop.events().findLast(({ type, data }) => {
    const object = data.object as { client_reference_id?: string }
    return type === 'checkout.session.completed' && object.client_reference_id === 'hush'
  })
  if (session === undefined) throw new Error('hush has not been through Checkout')
  stage.shop.settleCheckout((session.data.object as { id: string }).id, 'paid')
  stage.shop.updateSubscription(idsOf(stage, 'gale').subscription, { cancelAtPeriodEnd: true })
}

function upgrades(stage: Stage) {
  stage.shop.updateSubscription(idsOf(stage, 'acme').subscription, { quantity: 10 })
  stage.shop.updateSubscription(idsOf(stage, 'bolt').subscription, {
    items: [{ price: 'price_pro', quantity: 1 }],
  })
  stage.shop.cancel(idsOf(stage, 'luna').subscription)
}

function renewals(stage: Stage) {
  for (const tenant of ['crux', 'dune']) stage.shop.failPayments(idsOf(stage, tenant).customer, true)
}

const openInvoiceOf = (stage: Stage, tenant: string): string => {
  const invoice = stage.shop.invoicesOf(idsOf(stage, tenant).customer).find(({ status }) => status === 'open')
  if (invoice === undefined) throw new Error(`${tenant} has no open invoice`)
  return invoice.id ?? ''
}

function recovery(stage: Stage) {
  stage.shop.failPayments(idsOf(stage, 'crux').customer, false)
  stage.shop.payInvoice(openInvoiceOf(stage, 'crux'))
}

function givenUp(stage: Stage) {
  stage.shop.exhaustRetries(idsOf(stage, 'dune').subscription, 'unpaid')
}

function lateNews(stage: Stage) {
  const { shop, known } = stage
  shop.updateSubscription(idsOf(stage, 'echo').subscription, { cancelAtPeriodEnd: true })
  const { customer } = idsOf(stage, 'luna')
  known.set('luna', {
    customer,
    subscription: shop.subscribe(customer, { items: [{ price: 'price_pro', quantity: 2 }] }).id,
  })
  shop.failPayments(idsOf(stage, 'dune').customer, false)
  shop.payInvoice(openInvoiceOf(stage, 'dune'))
}
