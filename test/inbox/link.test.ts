// Whose tenant a customer is: every source of a link, what waits for one, and what is never guessed (rules.md section 2).
import { expect, test } from 'vitest'
import { hurry } from '../harness/time-travel.ts'
import { openWorld, until, type World } from '../harness/world.ts'

const ITEMS = [{ price: 'price_pro', quantity: 1 }]
const planOf = async (world: World, tenant: string) => (await world.read(tenant)).body['plan'] ?? null
const waiting = async (world: World) =>
  (
    await world.query(
      "select 1 from goodstanding.billing_events where reason = 'customer_not_linked' and processed_at is null",
    )
  ).length

type Source = (world: World) => void
const SOURCES: [string, Source][] = [
  [
    'metadata of the checkout session',
    ({ shop }) => void shop.checkout({ metadata: { tenant_id: 'acme' }, items: ITEMS }),
  ],
  ['client_reference_id', ({ shop }) => void shop.checkout({ tenant: 'acme', items: ITEMS })],
  [
    'metadata of the subscription',
    ({ shop }) => void shop.subscribe(shop.customer().id, { items: ITEMS, metadata: { tenant_id: 'acme' } }),
  ],
  [
    'metadata of the customer',
    ({ shop }) =>
      void shop.subscribe(shop.customer({ metadata: { tenant_id: 'acme' } }).id, { items: ITEMS }),
  ],
]

test.each(SOURCES)('a customer is linked by %s', async (_what, buy) => {
  const world = await openWorld()

  buy(world)
  await world.deliver({ shuffle: 5 })

  expect(await planOf(world, 'acme')).toBe('pro')
  expect(await waiting(world)).toBe(0)
})

test('the reference of a Payment Link, which the payer can alter, links nothing', async () => {
  const world = await openWorld()

  world.shop.checkout({ tenant: 'acme', items: ITEMS, paymentLink: true })
  await world.deliver()

  expect((await world.read('acme')).status).toBe(404)
  expect(await waiting(world)).toBeGreaterThan(0)
})

test('a burst of an unlinked customer asks Stripe for it once', async () => {
  const world = await openWorld({ worker: false })
  const customer = world.shop.customer()
  const { id } = world.shop.subscribe(customer.id, { items: ITEMS })
  for (const quantity of [2, 3, 4]) world.shop.updateSubscription(id, { quantity })
  await world.sim.delivery.flush()

  await world.startWorker()
  await world.settle()

  expect(await waiting(world)).toBeGreaterThan(3)
  expect(world.sim.calls({ path: /\/v1\/customers\// })).toHaveLength(1)
})

test('a link by the API wakes what waits within a second, and revives what died of it with a fresh budget', async () => {
  const world = await openWorld()
  const customer = world.shop.customer()
  const { id } = world.shop.subscribe(customer.id, { items: ITEMS })
  await world.deliver()
  const first = world.shop.events().find(({ type }) => type === 'customer.subscription.created')?.id ?? ''
  for (let attempt = 1; attempt < 12; attempt += 1) {
    await hurry(world.query)
    await until('one more attempt', async () => Number((await world.event(first))['attempts']) > attempt)
  }
  expect((await world.event(first))['outcome']).toBe('attempts_exhausted')
  world.shop.updateSubscription(id, { quantity: 4 })
  await world.deliver()
  expect(await waiting(world)).toBeGreaterThan(0)

  expect(await world.link('acme', customer.id)).toBe(200)

  await until('everything is settled', async () => (await waiting(world)) === 0, 2_000)
  expect(await world.event(first)).toMatchObject({ epoch: 2, dead_letter_at: null, attempts: 1 })
  expect(await world.query("select 1 from pgboss.job where name = 'billing.dead'")).toEqual([])
  expect((await world.read('acme')).body).toMatchObject({ plan: 'pro', seats: 4 })
  expect(await world.link('acme', customer.id)).toBe(200)
})

test('a dead letter of another reason stays dead when its customer is linked', async () => {
  const world = await openWorld()
  const customer = world.shop.customer()
  const event = world.shop.emit('customer.subscription.updated', {
    id: 'sub_x',
    object: 'invoice',
    customer: customer.id,
  })
  await world.deliver()
  expect(await world.event(event.id)).toMatchObject({
    outcome: 'permanent',
    reason: 'unrecognized_stripe_payload',
  })

  expect(await world.link('acme', customer.id)).toBe(200)
  await world.settle()

  expect(await world.event(event.id)).toMatchObject({ epoch: 1, outcome: 'permanent' })
})

test('an event that implies no subscription is settled as no_tenant, and read when the link comes', async () => {
  const world = await openWorld()
  const customer = world.shop.customer()
  await world.deliver()
  const [created] = await world.query<{ reason: string; outcome: string }>(
    "select reason, outcome from goodstanding.billing_events where type = 'customer.created'",
  )
  expect(created).toEqual({ reason: 'no_tenant', outcome: 'ignored' })

  await world.link('acme', customer.id)
  await world.settle()

  expect((await world.read('acme')).body).toMatchObject({ plan: 'free', state: 'none', active: false })
})

test('a customer that Stripe does not know is a dead letter at once', async () => {
  const world = await openWorld()

  const event = world.shop.emit('customer.subscription.created', {
    id: 'sub_x',
    object: 'subscription',
    customer: 'cus_nobody',
    status: 'active',
  })
  await world.deliver()

  expect(await world.event(event.id)).toMatchObject({
    outcome: 'permanent',
    reason: 'unknown_at_stripe',
    last_error: 'cus_nobody',
    attempts: 1,
  })
})

test('a tenant is never moved to a second customer, nor a customer to a second tenant', async () => {
  const world = await openWorld()
  const [first, second] = [world.shop.customer(), world.shop.customer()]
  await world.link('acme', first.id)
  await world.settle()

  world.shop.checkout({ customer: second.id, tenant: 'acme', items: ITEMS })
  world.shop.updateCustomer(first.id, { metadata: { tenant_id: 'bolt' } })
  await world.deliver()

  const dead = await world.query(
    "select type from goodstanding.billing_events where reason = 'ambiguous_customer_linkage' and dead_letter_at is not null order by 1",
  )
  expect(dead).toEqual([{ type: 'checkout.session.completed' }, { type: 'customer.updated' }])
  expect(await world.link('acme', second.id)).toBe(409)
  expect(await world.link('bolt', first.id)).toBe(409)
  const links = await world.query(
    'select customer_id, tenant_id from goodstanding.customers where tenant_id is not null',
  )
  expect(links).toEqual([{ customer_id: first.id, tenant_id: 'acme' }])
})

test('a hundred links that race with their events lose no wake-up', async () => {
  const world = await openWorld()
  const customers = Array.from({ length: 100 }, () => world.shop.customer())
  for (const { id } of customers) world.shop.subscribe(id, { items: ITEMS })

  await Promise.all([
    world.sim.delivery.flush({ concurrency: 8, shuffle: 9 }),
    ...customers.map(async ({ id }, index) => {
      await until('its turn', () => true)
      for (;;) if ((await world.link(`tenant_${index}`, id)) === 200) return
    }),
  ])
  await world.settle()

  await until('nobody waits', async () => (await waiting(world)) === 0, 5_000)
  const plans = await world.query('select plan, count(*)::int from goodstanding.effective_plans group by 1')
  expect(plans).toEqual([{ plan: 'pro', count: 100 }])
})
