// The double's API, seen through the real SDK: paying and failing to, coupons, schedules, clocks, and what it refuses.
import type Stripe from 'stripe'
import { expect, test } from 'vitest'
import { sharedHonesty } from './honesty/check.ts'
import { startStripeSim } from './sim.ts'
import { client, main, start } from './testing.ts'

const CARD = { payment_method: 'pm_card_visa', invoice_settings: { default_payment_method: 'pm_card_visa' } }

const open = async () => {
  const sim = await start()
  const stripe = client(sim)
  const paying = () => stripe.customers.create(CARD)
  const subscribe = async (over: Partial<Stripe.SubscriptionCreateParams> = {}) =>
    stripe.subscriptions.create({
      customer: (await paying()).id,
      items: [{ price: 'price_pro', quantity: 2 }],
      ...over,
    })
  const types = () =>
    sim
      .account('default')
      .events()
      .map(({ type }) => type)
  return { sim, stripe, shop: sim.account('default'), paying, subscribe, types }
}

test('a declined card is told as it was recorded', async () => {
  const { stripe } = await open()
  const { id: customer } = await stripe.customers.create({})
  const { id: method } = await stripe.paymentMethods.attach('pm_card_chargeCustomerFail', { customer })
  await stripe.invoiceItems.create({ customer, amount: 2_000, currency: 'usd' })
  const invoice = await stripe.invoices.create({ customer, pending_invoice_items_behavior: 'include' })

  const error = (await stripe.invoices
    .pay(invoice.id, { payment_method: method })
    .catch((each: unknown) => each)) as {
    raw: Record<string, unknown>
    statusCode: number
  }

  expect(error.statusCode).toBe(402)
  const told = [
    'advice_code',
    'code',
    'decline_code',
    'doc_url',
    'message',
    'network_decline_code',
    'param',
    'type',
  ]
  expect(Object.keys(error.raw)).toEqual(expect.arrayContaining([...told, 'request_log_url']))
  expect(error.raw).toMatchObject({ code: 'card_declined', type: 'card_error', param: '' })
  expect(await stripe.invoices.retrieve(invoice.id)).toMatchObject({ status: 'open', attempt_count: 1 })
})

test('a card that asks for authentication leaves the subscription incomplete and its invoice open', async () => {
  const { stripe, types } = await open()
  const { id: customer } = await stripe.customers.create({})
  const { id: method } = await stripe.paymentMethods.attach('pm_card_authenticationRequired', { customer })

  const sub = await stripe.subscriptions.create({
    customer,
    items: [{ price: 'price_pro' }],
    default_payment_method: method,
    expand: ['latest_invoice'],
  })

  expect(sub).toMatchObject({ status: 'incomplete', latest_invoice: { status: 'open' } })
  expect(types()).toEqual(
    expect.arrayContaining(['payment_intent.requires_action', 'invoice.payment_action_required']),
  )
})

test.each([
  ['nobody to charge', { items: [{ price: 'price_pro' }] }, 'no attached payment source', undefined],
  ['an unknown price', { items: [{ price: 'price_none' }] }, 'No such price', 'items[0][price]'],
])('a subscription with %s is a bad request', async (_what, over, message, param) => {
  const { stripe } = await open()
  const { id: customer } = await stripe.customers.create({})

  await expect(stripe.subscriptions.create({ customer, ...over })).rejects.toMatchObject({
    statusCode: 400,
    code: 'resource_missing',
    message: expect.stringContaining(message) as string,
    param,
  })
})

test('the same key with other parameters is refused, and with the same ones replayed', async () => {
  const { stripe } = await open()
  const once = { idempotencyKey: 'once' }
  const first = await stripe.customers.create({ email: 'a@example.com' }, once)

  expect((await stripe.customers.create({ email: 'a@example.com' }, once)).id).toBe(first.id)
  await expect(stripe.customers.create({ email: 'b@example.com' }, once)).rejects.toMatchObject({
    type: 'StripeIdempotencyError',
    statusCode: 400,
  })
})

test('what the SDK of this version cannot say is refused; who names no version is not judged by it', async () => {
  const sim = await startStripeSim({ accounts: [main], honesty: sharedHonesty() })
  const { customers } = client(sim)

  await expect(customers.create({ colour: 'red' } as never)).rejects.toMatchObject({
    code: 'parameter_unknown',
    param: 'colour',
    message: 'Received unknown parameter: colour',
  })
  const old = await fetch(`${sim.url}/v1/customers`, {
    method: 'POST',
    headers: { authorization: `Bearer ${main.apiKey}` },
    body: new URLSearchParams({ colour: 'red' }),
  })
  expect(old.status).toBe(200)
  await sim.close()
})

test.each([
  ['once', [1_600, 2_000]],
  ['forever', [1_600, 1_600]],
] as const)('20 percent off %s', async (duration, totals) => {
  const { stripe, shop, subscribe } = await open()
  const coupon = await stripe.coupons.create({ percent_off: 20, duration })
  const sub = await subscribe({ discounts: [{ coupon: coupon.id }] })
  shop.renew(sub.id, { payment: 'paid' })

  const { data } = await stripe.invoices.list({ subscription: sub.id })

  expect(data.map(({ total }) => total).toReversed()).toEqual(totals)
  expect(data.at(-1)).toMatchObject({
    subtotal: 2_000,
    amount_paid: 1_600,
    total_discount_amounts: [{ amount: 400 }],
  })
})

test('a schedule moves from phase to phase and lets its subscription go', async () => {
  const { sim, stripe, shop, paying, types } = await open()
  const price = 'price_pro'
  const schedule = await stripe.subscriptionSchedules.create({
    customer: (await paying()).id,
    start_date: 'now',
    end_behavior: 'release',
    phases: [1, 5].map((quantity) => ({ items: [{ price, quantity }], duration: { interval: 'month' } })),
  })
  const id = schedule.subscription as string
  const quantities = async () =>
    (await stripe.subscriptions.retrieve(id)).items.data.map(({ quantity }) => quantity)
  const seen = [await quantities()]
  for (const days of [31, 31]) {
    sim.clock.advance(days * 86_400_000)
    shop.tick()
    seen.push(await quantities())
  }

  expect(seen).toEqual([[1], [5], [5]])
  expect(await stripe.subscriptionSchedules.retrieve(schedule.id)).toMatchObject({
    status: 'completed',
    subscription: null,
    released_subscription: id,
  })
  expect((await stripe.subscriptions.retrieve(id)).schedule).toBeNull()
  expect(types()).toEqual(
    expect.arrayContaining(
      ['created', 'updated', 'expiring', 'completed'].map((verb) => `subscription_schedule.${verb}`),
    ),
  )
})

test('a test clock has customers of its own, and its time is theirs alone', async () => {
  const { stripe, types } = await open()
  const frozen = 1_893_456_000
  const clock = await stripe.testHelpers.testClocks.create({ frozen_time: frozen })
  const customer = await stripe.customers.create({ test_clock: clock.id, ...CARD })
  const sub = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: 'price_pro' }],
    trial_period_days: 7,
  })

  await stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: frozen + 8 * 86_400 })

  expect(await stripe.subscriptions.retrieve(sub.id)).toMatchObject({
    status: 'active',
    test_clock: clock.id,
  })
  expect((await stripe.customers.list()).data.map(({ id }) => id)).not.toContain(customer.id)
  expect((await stripe.customers.list({ test_clock: clock.id })).data).toHaveLength(1)
  expect(types().slice(-1)).toEqual(['test_helpers.test_clock.ready'])
})

test.each([
  ['AT611904300234573201', 'paid', 'active', 'succeeded'],
  ['IT60X0542811101000000123456', 'unpaid', 'incomplete', 'failed'],
])('Checkout with the delayed method %s ends %s', async (iban, payment, status, verb) => {
  const { sim, stripe, types } = await open()
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    line_items: [{ price: 'price_pro', quantity: 3 }],
    success_url: 'https://example.com/done',
  })
  const method = await stripe.paymentMethods.create({ type: 'sepa_debit', sepa_debit: { iban } })
  expect(await stripe.checkout.sessions.retrieve(session.id)).toMatchObject({
    status: 'open',
    payment_status: 'unpaid',
  })

  const answered = await fetch(`${sim.url}/v1/payment_pages/${session.id}/confirm`, {
    method: 'POST',
    headers: { authorization: `Bearer ${main.apiKey}` },
    body: new URLSearchParams({ payment_method: method.id, expected_amount: '3000' }),
  })

  expect(answered.status).toBe(200)
  const done = await stripe.checkout.sessions.retrieve(session.id, { expand: ['subscription'] })
  expect(done).toMatchObject({ status: 'complete', payment_status: payment, subscription: { status } })
  const said = types().filter((type) => type.startsWith('checkout.session'))
  expect(said).toEqual(['checkout.session.completed', `checkout.session.async_payment_${verb}`])
  expect((await stripe.checkout.sessions.listLineItems(session.id)).data).toMatchObject([{ quantity: 3 }])
})
