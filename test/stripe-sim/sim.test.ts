// The double, seen through the real SDK: what it answers, which events it emits, what time does to it.

import { expect, test } from 'vitest'
import { client, old, start } from './testing.ts'

const DAY_MS = 86_400_000

test('the SDK pages through subscriptions, newest first, and through more than ten items', async () => {
  const sim = await start()
  const shop = sim.account('default')
  const prices = Array.from({ length: 12 }, (_, n) => ({ price: shop.price({ id: `price_${n}` }).id }))
  const customer = shop.customer()
  const ids = [1, 2, 3].map(() => shop.subscribe(customer.id, { items: [{ price: 'price_pro' }] }).id)
  const wide = shop.subscribe(customer.id, { items: prices })

  const stripe = client(sim)
  const listed: string[] = []
  for await (const sub of stripe.subscriptions.list({ customer: customer.id, limit: 2 })) listed.push(sub.id)
  const items = await stripe.subscriptionItems.list({ subscription: wide.id, limit: 100 })

  expect(listed).toEqual([wide.id, ...ids.toReversed()])
  expect(wide.items).toMatchObject({ has_more: true, total_count: 12 })
  expect(wide.items.data).toHaveLength(10)
  expect(items.data).toHaveLength(12)
})

test('canceled subscriptions are listed only when asked for', async () => {
  const sim = await start()
  const shop = sim.account('default')
  const { customer, subscription } = shop.checkout({ items: [{ price: 'price_pro' }] })
  shop.cancel(subscription?.id ?? '')

  const plain = await client(sim).subscriptions.list({ customer: customer.id })
  const all = await client(sim).subscriptions.list({
    customer: customer.id,
    status: 'all',
    expand: ['data.customer', 'data.latest_invoice'],
  })

  expect(plain.data).toEqual([])
  expect(all.data[0]).toMatchObject({ status: 'canceled', customer: { id: customer.id } })
  expect(all.data[0]?.latest_invoice).toMatchObject({ object: 'invoice', status: 'paid' })
})

test('a wrong key, an unknown id and a deleted customer answer as Stripe does', async () => {
  const sim = await start()
  const customer = sim.account('default').customer({ email: 'a@example.com' })
  const { subscription } = sim
    .account('default')
    .checkout({ customer: customer.id, items: [{ price: 'price_pro' }] })
  sim.account('default').deleteCustomer(customer.id)
  const stripe = client(sim)

  await expect(client(sim, 'sk_test_wrong').accounts.retrieveCurrent()).rejects.toMatchObject({
    statusCode: 401,
  })
  await expect(stripe.subscriptions.retrieve('sub_none')).rejects.toMatchObject({ code: 'resource_missing' })
  await expect(client(sim, old.apiKey).customers.retrieve(customer.id)).rejects.toMatchObject({
    statusCode: 404,
  })
  expect(await stripe.customers.retrieve(customer.id)).toMatchObject({ id: customer.id, deleted: true })
  expect(await stripe.subscriptions.retrieve(subscription?.id ?? '')).toMatchObject({ status: 'canceled' })
})

test('what the API writes emits events with previous attributes and the idempotency key', async () => {
  const sim = await start()
  const stripe = client(sim)
  const customer = await stripe.customers.create({
    metadata: { tenant_id: 't1' },
    payment_method: 'pm_card_visa',
    invoice_settings: { default_payment_method: 'pm_card_visa' },
  })
  const created = { customer: customer.id, items: [{ price: 'price_pro', quantity: 2 }] }
  const sub = await stripe.subscriptions.create(created, { idempotencyKey: 'once' })
  const again = await stripe.subscriptions.create(created, { idempotencyKey: 'once' })
  await stripe.subscriptions.update(sub.id, { items: [{ id: sub.items.data[0]?.id ?? '', quantity: 5 }] })

  const updated = sim
    .account('default')
    .events()
    .findLast((event) => event.type === 'customer.subscription.updated')
  expect(again.id).toBe(sub.id)
  expect(again.lastResponse.headers['idempotent-replayed']).toBe('true')
  expect(updated?.data.object).toMatchObject({ quantity: 5 })
  expect(updated?.data.previous_attributes).toMatchObject({ quantity: 2, items: { data: [{ quantity: 2 }] } })
  expect(updated?.request.idempotency_key).toMatch(/^stripe-node-retry-/)
})

test('a 404 without an error object is what the SDK takes for a success', async () => {
  const sim = await start()
  sim.faults.next({ fault: { notFoundWithoutError: true } })

  const answer = await client(sim).customers.retrieve('cus_any')

  expect(answer.id).toBeUndefined()
})

test('events are rendered in the version of their account', async () => {
  const sim = await start()
  const [item, legacy] = ['default', 'old'].map((name) => {
    const shop = sim.account(name)
    const { subscription } = shop.checkout({ items: [{ price: 'price_pro' }] })
    const last = (type: string) => shop.events().findLast((event) => event.type === type)?.data.object
    return { id: subscription?.id, sub: last('customer.subscription.created'), invoice: last('invoice.paid') }
  })

  expect(item?.sub).not.toHaveProperty('current_period_end')
  expect(item?.sub).toHaveProperty('items.data[0].current_period_end')
  expect(item?.sub).toHaveProperty('plan.id', 'price_pro')
  expect(item?.invoice).not.toHaveProperty('subscription')
  expect(item?.invoice).toHaveProperty('parent.subscription_details.subscription', item?.id)
  expect(legacy?.sub).toHaveProperty('current_period_end')
  expect(legacy?.sub).not.toHaveProperty('items.data[0].current_period_end')
  expect(legacy?.invoice).toHaveProperty('subscription', legacy?.id)
  expect(legacy?.invoice).not.toHaveProperty('parent')
})

test('ids and events are the same in every run', async () => {
  const runs: string[] = []
  for (const _ of [1, 2]) {
    const shop = (await start()).account('default')
    shop.checkout({ items: [{ price: 'price_pro' }] })
    runs.push(JSON.stringify(shop.events()))
  }

  expect(runs[0]).toBe(runs[1])
})

test('time passes: a trial ends, payment fails, is retried and recovers', async () => {
  const sim = await start()
  const shop = sim.account('default')
  const { customer, subscription } = shop.checkout({ items: [{ price: 'price_pro' }], trialDays: 14 })
  const id = subscription?.id ?? ''
  shop.failPayments(customer.id, true)

  sim.clock.advance(14 * DAY_MS)
  shop.tick()
  expect(shop.subscription(id).status).toBe('past_due')
  shop.failPayments(customer.id, false)
  sim.clock.advance(3 * DAY_MS)
  shop.tick()

  expect(shop.subscription(id).status).toBe('active')
  const types = shop.events().map((event) => event.type)
  expect(types).toContain('customer.subscription.trial_will_end')
  expect(types.filter((type) => type.startsWith('invoice.payment'))).toEqual([
    'invoice.payment_succeeded',
    'invoice.payment_failed',
    'invoice.payment_succeeded',
  ])
})

test('customers on a test clock live in its time and are left out of plain lists', async () => {
  const sim = await start()
  const shop = sim.account('default')
  const frozenTime = Date.UTC(2027, 0, 31)
  const customer = shop.customer({ testClock: { frozenTime } })
  const sub = shop.subscribe(customer.id, { items: [{ price: 'price_pro' }] })
  shop.advanceTestClock(customer.test_clock ?? '', frozenTime + 29 * DAY_MS)

  const stripe = client(sim)
  expect((await stripe.subscriptions.list({ status: 'all' })).data).toEqual([])
  expect((await stripe.subscriptions.list({ customer: customer.id })).data[0]?.created).toBe(
    frozenTime / 1000,
  )
  // 31 January plus a month is the last day of February; then the clock's advance renewed it.
  expect(shop.subscription(sub.id).items.data[0]?.current_period_start).toBe(Date.UTC(2027, 1, 28) / 1000)
  expect((await stripe.testHelpers.testClocks.retrieve(customer.test_clock ?? '')).status).toBe('ready')
})
