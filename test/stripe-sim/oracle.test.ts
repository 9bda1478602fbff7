// The oracle against cases worked out by hand from rules.md.

import { afterEach, expect, test } from 'vitest'
import { expectedEntitlements } from './oracle.ts'
import type { OracleCatalog } from './oracle.ts'
import { startStripeSim } from './sim.ts'
import type { StripeSim } from './sim.ts'

const DAY_MS = 86_400_000
const catalog: OracleCatalog = {
  default: 'free',
  subscriptions: 'union',
  plans: {
    free: { rank: 0, features: { projects: 1 } },
    basic: { rank: 10, prices: ['price_basic'], features: { export: true, projects: 5 } },
    pro: {
      rank: 20,
      prices: ['price_pro', 'lookup:pro_yearly', 'product:prod_pro'],
      features: { export: true, sso: true, projects: 50, seats: { from: 'quantity' } },
    },
  },
}

let sim: StripeSim | undefined
afterEach(() => sim?.close())

const open = async () => {
  sim = await startStripeSim({
    accounts: [
      { name: 'default', id: 'acct_1', apiKey: 'sk_test_1', livemode: false, webhookSecret: 'whsec_1' },
    ],
  })
  const shop = sim.account('default')
  shop.price({ id: 'price_basic', product: 'prod_basic' })
  shop.price({ id: 'price_pro', product: 'prod_pro' })
  shop.price({ id: 'price_year', product: 'prod_year', lookupKey: 'pro_yearly', interval: 'year' })
  shop.price({ id: 'price_other', product: 'prod_other' })
  const { clock } = sim
  const buy = (price: string, quantity = 1, tenant = 't1') => {
    const sold = shop.checkout({ tenant, items: [{ price, quantity }] })
    return { customer: sold.customer.id, id: sold.subscription?.id ?? '' }
  }
  const answer = (at = clock.now(), with_: Partial<OracleCatalog> = {}) =>
    expectedEntitlements(shop, { ...catalog, ...with_ }, 't1', at)
  return { clock, shop, buy, answer }
}

test('nobody bought: the default plan', async () => {
  const { answer } = await open()

  expect(answer()).toEqual({
    plan: 'free',
    active: false,
    state: 'none',
    features: { projects: 1 },
    seats: null,
  })
})

test('a purchase grants its plan and its seats', async () => {
  const { answer, buy } = await open()
  buy('price_pro', 4)

  const features = { export: true, sso: true, projects: 50, seats: 4 }
  expect(answer()).toEqual({ plan: 'pro', active: true, state: 'active', features, seats: 4 })
})

test.each([
  ['price_year', 'pro'],
  ['price_basic', 'basic'],
  ['price_other', 'free'],
])('%s maps to %s', async (price, plan) => {
  const { answer, buy } = await open()
  buy(price)

  expect(answer().plan).toBe(plan)
})

test('a payment link is no evidence of a tenant, its metadata is', async () => {
  const { answer, shop } = await open()
  const { customer } = shop.checkout({ tenant: 't1', paymentLink: true, items: [{ price: 'price_pro' }] })
  expect(answer().state).toBe('none')

  shop.updateCustomer(customer.id, { metadata: { tenant_id: 't1' } })

  expect(answer().state).toBe('active')
})

test('a failed renewal is grace for seven days, then suspended, then paid again', async () => {
  const { answer, buy, clock, shop } = await open()
  const { id, customer } = buy('price_pro')
  clock.advance(31 * DAY_MS)
  shop.renew(id, { payment: 'fails' })
  const failedAt = clock.now()

  expect(answer(failedAt + 7 * DAY_MS - 1).state).toBe('grace')
  expect(answer(failedAt + 7 * DAY_MS)).toMatchObject({ state: 'suspended', plan: 'free', active: false })
  expect(answer(failedAt + 8 * DAY_MS, { graceDays: 9 }).state).toBe('grace')
  shop.payInvoice(shop.invoicesOf(customer).at(-1)?.id ?? '')
  expect(answer(failedAt + 8 * DAY_MS).state).toBe('active')
})

test('a scheduled cancellation ends access at its time, without an event', async () => {
  const { answer, buy, shop } = await open()
  const { id } = buy('price_pro')
  const end = (shop.updateSubscription(id, { cancelAtPeriodEnd: true }).cancel_at ?? 0) * 1000

  expect(answer(end - 1).state).toBe('active')
  expect(answer(end)).toMatchObject({ state: 'ended', active: false })
})

test('a union keeps what the other subscription grants; quarantine knows the oldest only', async () => {
  const { answer, buy, shop } = await open()
  const { id, customer } = buy('price_basic')
  shop.subscribe(customer, { items: [{ price: 'price_pro', quantity: 3 }] })

  expect(answer()).toMatchObject({ plan: 'pro', features: { projects: 50 }, seats: 3 })
  expect(answer(undefined, { subscriptions: 'quarantine' })).toMatchObject({ plan: 'basic', seats: null })
  expect(answer(undefined, { features: { projects: { merge: 'sum' } } }).features['projects']).toBe(55)
  shop.cancel(id)
  expect(answer(undefined, { subscriptions: 'quarantine' }).plan).toBe('pro')
})

test('denying states grant nothing and say why', async () => {
  const { answer, buy, shop } = await open()
  const { id, customer } = buy('price_pro')

  shop.pauseSubscription(id)
  expect(answer()).toMatchObject({ state: 'suspended', active: false })
  shop.resume(id)
  expect(answer().state).toBe('active')
  shop.deleteCustomer(customer)
  expect(answer()).toMatchObject({ state: 'ended', active: false, plan: 'free' })
})

test('a delayed first payment is pending, and allowed only if the catalog says so', async () => {
  const { answer, shop } = await open()
  const { session } = shop.checkout({ tenant: 't1', items: [{ price: 'price_pro' }], delayedPayment: true })

  expect(answer()).toMatchObject({ state: 'pending', active: false })
  expect(answer(undefined, { pendingFirstPayment: 'allow' })).toMatchObject({
    state: 'pending',
    active: true,
  })
  shop.settleCheckout(session.id, 'paid')
  expect(answer()).toMatchObject({ state: 'active', active: true })
})

test('paused collection keeps access, unless the catalog suspends after the paid period', async () => {
  const { answer, buy, clock, shop } = await open()
  const { id } = buy('price_pro')
  shop.updateSubscription(id, { pause: { behavior: 'void' } })
  clock.advance(40 * DAY_MS)
  shop.tick()

  expect(answer().state).toBe('active')
  expect(answer(undefined, { pausedCollection: { void: 'suspend' } }).state).toBe('suspended')
})
