// What the worker makes of Stripe's answers: whole customers, ends, absences, stale reads, several subscriptions.
import { expect, test } from 'vitest'
import { ACCOUNT, CATALOG, openWorld, until, type World } from '../harness/world.ts'

const ITEMS = [{ price: 'price_pro', quantity: 2 }]
const body = async (world: World, tenant = 'acme') => (await world.read(tenant)).body

const withTenant = async (world: World, items = ITEMS) => {
  const customer = world.shop.customer({ metadata: { tenant_id: 'acme' } })
  const subscription = world.shop.subscribe(customer.id, { items })
  await world.deliver()
  return { customer: customer.id, subscription: subscription.id }
}
const findings = (world: World) =>
  world.query('select code, resolved_at is not null as resolved from goodstanding.findings order by 1')

test('items beyond the first page count', async () => {
  const world = await openWorld()
  const prices = Array.from({ length: 25 }, (_, index) => {
    world.shop.price({ id: `price_${index}`, product: 'prod_pro', unitAmount: 1, interval: 'month' })
    return { price: `price_${index}`, quantity: 1 }
  })

  await withTenant(world, prices)

  expect((await body(world))['seats']).toBe(25)
})

test('a deleted customer has no access any more', async () => {
  const world = await openWorld()
  const { customer } = await withTenant(world)

  world.shop.deleteCustomer(customer)
  await world.deliver({ shuffle: 3 })

  expect(await body(world)).toMatchObject({ plan: 'free', active: false, state: 'ended' })
})

test('a late payload that disagrees is recorded as superseded, with what it said', async () => {
  const world = await openWorld()
  const { subscription } = await withTenant(world)
  world.shop.updateSubscription(subscription, { quantity: 5 })
  const late = world.shop.events().at(-1)
  world.shop.cancel(subscription)
  const newest = world.shop.events().at(-1)
  await world.sim.delivery.post('default', newest as never)
  await world.settle()

  await world.sim.delivery.post('default', late as never)
  await world.settle()

  expect(await world.event(late?.id ?? '')).toMatchObject({
    outcome: 'superseded',
    reason: 'superseded_by_live_state',
  })
  const [audit] = await world.query<{ detail: { disagreements: unknown } }>(
    "select detail from goodstanding.billing_audit where event_id = $1 and kind = 'superseded'",
    [late?.id],
  )
  expect(audit?.detail.disagreements).toContainEqual({ input: 'status', payload: 'active', live: 'canceled' })
  expect(await body(world)).toMatchObject({ state: 'ended' })
})

test('payloads of an old API version are no disagreement by their shape alone', async () => {
  const world = await openWorld({ accounts: [{ ...ACCOUNT, apiVersion: '2020-08-27' }] })

  await withTenant(world)

  const outcomes = await world.query(
    "select distinct outcome from goodstanding.billing_events where type like 'customer.subscription.%'",
  )
  expect(outcomes.map((row) => row['outcome'])).not.toContain('superseded')
  expect(await body(world)).toMatchObject({ plan: 'pro', seats: 2 })
})

test('two live subscriptions wait for a person before anything is changed, and go on when one ends', async () => {
  const world = await openWorld()
  const { customer } = await withTenant(world)
  const second = world.shop.subscribe(customer, { items: [{ price: 'price_basic', quantity: 1 }] })

  await world.deliver()

  const dead =
    "select count(*)::int as dead from goodstanding.billing_events where reason = 'ambiguous_multi_subscription' and dead_letter_at is not null"
  const [stopped] = await world.query<{ dead: number }>(dead)
  expect(stopped?.dead).toBeGreaterThan(0)
  expect(await world.query('select count(*)::int from goodstanding.subscriptions')).toEqual([{ count: 1 }])
  expect(await body(world)).toMatchObject({ plan: 'pro', seats: 2 })
  world.shop.cancel(second.id)
  await world.deliver()
  expect(await world.query(dead)).toEqual([{ dead: 0 }])
  expect(
    await world.query(
      'select count(*)::int from goodstanding.billing_events where epoch = 2 and processed_at is null',
    ),
  ).toEqual([{ count: 0 }])
  expect(await body(world)).toMatchObject({ plan: 'pro', seats: 2 })
})

test('with "union" two subscriptions are merged, and two base plans at once are a finding', async () => {
  const world = await openWorld({ catalog: { ...CATALOG, subscriptions: 'union' } })
  const { customer } = await withTenant(world)

  const second = world.shop.subscribe(customer, { items: [{ price: 'price_basic', quantity: 1 }] })
  await world.deliver()

  expect(await body(world)).toMatchObject({ plan: 'pro', seats: 2 })
  expect(await findings(world)).toEqual([{ code: 'double_billed', resolved: false }])
  world.shop.cancel(second.id)
  await world.deliver()
  expect(await body(world)).toMatchObject({ plan: 'pro', seats: 2 })
})

test('an unknown price is deferred and what is held stays; the corrected catalog does not replay by itself', async () => {
  const world = await openWorld()
  const { subscription } = await withTenant(world)

  world.shop.updateSubscription(subscription, { items: [{ price: 'price_unmapped', quantity: 1 }] })
  await world.deliver()

  const event = world.shop.events().at(-1)?.id ?? ''
  expect(await world.event(event)).toMatchObject({
    reason: 'unmapped_stripe_price',
    last_error: 'price_unmapped',
    processed_at: null,
    attempts: 1,
  })
  expect(await body(world)).toMatchObject({ plan: 'pro', seats: 2 })
})

test('a refund and a dispute are recorded with their customer and invoice, and change no access', async () => {
  const world = await openWorld()
  const { customer } = await withTenant(world)
  const invoice = world.shop.invoicesOf(customer)[0]?.id ?? ''

  const refund = world.shop.refund(invoice)
  const dispute = world.shop.dispute(invoice)
  await world.deliver()

  expect(await world.query('select refund_id, customer_id, invoice_id from goodstanding.refunds')).toEqual([
    { refund_id: refund.id, customer_id: customer, invoice_id: invoice },
  ])
  expect(await world.query('select dispute_id, customer_id, invoice_id from goodstanding.disputes')).toEqual([
    { dispute_id: dispute.id, customer_id: customer, invoice_id: invoice },
  ])
  expect(await body(world)).toMatchObject({ plan: 'pro', active: true })
})

test('a key that may not list payments costs the tie to the invoice, not the event', async () => {
  const world = await openWorld()
  const { customer } = await withTenant(world)
  world.sim.faults.next({ path: /invoice_payments/, times: 9, fault: { status: 403 } })
  world.shop.refund(world.shop.invoicesOf(customer)[0]?.id ?? '')
  await world.deliver()

  expect(await world.query('select customer_id, invoice_id from goodstanding.refunds')).toEqual([
    { customer_id: customer, invoice_id: null },
  ])
})

test("a one-off invoice is recorded as such; one of another customer's subscription is stopped", async () => {
  const world = await openWorld()
  const { customer } = await withTenant(world)
  world.shop.invoice({ customer, amount: 500 })
  await world.deliver()
  const reasons = await world.query(
    "select distinct reason from goodstanding.billing_events where reason like 'invoice%'",
  )
  expect(reasons).toEqual([{ reason: 'invoice_without_subscription' }])

  const foreign = world.shop.emit('invoice.paid', {
    id: 'in_foreign',
    object: 'invoice',
    customer,
    status: 'paid',
    parent: { type: 'subscription_details', subscription_details: { subscription: 'sub_foreign' } },
  })
  await world.deliver()

  expect(await world.event(foreign.id)).toMatchObject({
    outcome: 'permanent',
    reason: 'ambiguous_invoice_subscription',
  })
})

test('grace begins with the unpaid invoice and is not restarted by redelivery or another look', async () => {
  const world = await openWorld()
  const { customer, subscription } = await withTenant(world)
  world.shop.failPayments(customer, true)
  world.shop.renew(subscription, { payment: 'fails' })
  await world.deliver()
  const since = () => world.query('select unpaid_since, unpaid_invoice_id from goodstanding.subscriptions')
  const before = await since()
  expect(await body(world)).toMatchObject({ state: 'grace', plan: 'pro' })

  await world.advance(3 * 86_400_000)
  await world.sim.delivery.redeliver({ all: true })
  world.shop.updateSubscription(subscription, { quantity: 3 })
  await world.deliver()

  expect(await since()).toEqual(before)
  expect(await body(world)).toMatchObject({ state: 'grace', seats: 3 })
  await world.advance(5 * 86_400_000)
  await until('Stripe was read after the grace', async () => (await body(world))['state'] === 'suspended')
  expect(await body(world)).toMatchObject({ plan: 'free', active: false })
})
