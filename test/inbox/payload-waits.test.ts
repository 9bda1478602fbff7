// Accounts without a key: what waits, and for what (a tenant, a subscription, a price); what can never be told.
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { cliOf, SIGNED } from '../harness/cli.ts'
import { hurry } from '../harness/time-travel.ts'
import { ACCOUNT, CATALOG, openWorld, seatsOf, signUp, until, type World } from '../harness/world.ts'

const DAY_MS = 86_400_000
const openKeyless = () => openWorld({ keyless: ['default'] })

const eventsOf = ({ shop }: World, type: string) => {
  const [first, ...more] = shop.events().filter((event) => event.type === type)
  if (first === undefined) throw new Error(`no ${type}`)
  return [first, ...more] as const
}
const waiting = async (world: World, reason: string) =>
  (
    await world.query<{ type: string }>(
      'select type from goodstanding.billing_events where reason = $1 and processed_at is null order by type',
      [reason],
    )
  ).map(({ type }) => type)

test('without a tenant every event of the core six waits, and the link wakes them all', async () => {
  const world = await openKeyless()
  const customer = world.shop.customer().id
  const { id } = world.shop.subscribe(customer, { items: [{ price: 'price_pro', quantity: 2 }] })
  await world.advance(DAY_MS)
  world.shop.updateSubscription(id, { quantity: 7 })
  await world.advance(DAY_MS)
  world.shop.cancel(id)
  await world.deliver({ shuffle: 3 })
  expect(await waiting(world, 'customer_not_linked')).toEqual([
    'customer.subscription.created',
    'customer.subscription.deleted',
    'customer.subscription.updated',
    'invoice.paid',
  ])

  expect(await world.link('acme', customer)).toBe(200)

  await until('all is worked', async () => (await waiting(world, 'customer_not_linked')).length === 0)
  await world.settle()
  expect((await world.read('acme')).body).toMatchObject({ plan: 'free', state: 'ended' })
  expect(await world.query('select status from goodstanding.subscriptions')).toEqual([{ status: 'canceled' }])
  expect(world.sim.calls()).toEqual([])
})

test('a customer that was deleted before it was linked has nothing', async () => {
  const world = await openKeyless()
  const customer = world.shop.customer().id
  world.shop.subscribe(customer, { items: [{ price: 'price_pro', quantity: 2 }] })
  const deleted = world.shop.emit('customer.deleted', { id: customer, object: 'customer', deleted: true })
  await world.deliver()
  expect(await world.event(deleted.id)).toMatchObject({ outcome: 'ignored', reason: 'no_tenant' })

  await world.link('acme', customer)

  await until('all is worked', async () => (await waiting(world, 'customer_not_linked')).length === 0)
  await world.settle()
  expect((await world.read('acme')).body).toMatchObject({ plan: 'free', active: false, state: 'ended' })
})

test('the deletion of a linked customer ends access', async () => {
  const world = await openKeyless()
  const { customer } = await signUp(world)
  await world.settle()
  expect(await seatsOf(world)).toBe(2)

  world.shop.deleteCustomer(customer)
  await world.deliver()

  expect((await world.read('acme')).body).toMatchObject({ plan: 'free', active: false, state: 'ended' })
})

test('a payment whose subscription is not known yet waits for it, and goes on as soon as it is', async () => {
  const world = await openKeyless()
  await signUpWithoutDelivery(world)
  const [paid] = eventsOf(world, 'invoice.paid')
  const [created] = eventsOf(world, 'customer.subscription.created')
  await world.sim.delivery.post('default', eventsOf(world, 'customer.created')[0])
  await world.sim.delivery.post('default', paid)
  await world.settle()
  expect(await world.event(paid.id)).toMatchObject({ reason: 'subscription_not_linked', processed_at: null })

  await world.sim.delivery.post('default', created)

  await until('it is worked', async () => (await world.event(paid.id))['processed_at'] !== null, 5_000)
  expect(await world.event(paid.id)).toMatchObject({ reason: null, epoch: 1 })
})

const signUpWithoutDelivery = async (world: World) => {
  const customer = world.shop.customer({ metadata: { tenant_id: 'acme' } }).id
  return world.shop.subscribe(customer, { items: [{ price: 'price_pro', quantity: 2 }] })
}

test('the first evidence turns unknown into none, and the ETag tells', async () => {
  const world = await openKeyless()
  const { id } = await signUpWithoutDelivery(world)
  await world.sim.delivery.post('default', eventsOf(world, 'customer.created')[0])
  await world.settle()
  const unknown = await world.read('acme')
  const [created] = eventsOf(world, 'customer.subscription.created')
  const expired = { ...world.shop.subscription(id), status: 'incomplete_expired' }

  await world.sim.delivery.post('default', { ...created, data: { object: expired } })
  await world.settle()

  const none = await world.read('acme')
  expect([unknown.body['state'], none.body['state']]).toEqual(['unknown', 'none'])
  expect(none.etag).not.toBe(unknown.etag)
})

test('what cannot be read from its payload is a dead letter or recorded as such', async () => {
  const world = await openKeyless()
  const { customer } = await signUp(world)
  await postThin(world, 'evt_thin', 'v1.customer.updated', { id: customer, type: 'customer' })
  await postThin(world, 'evt_thin_sub', 'v1.customer.subscription.updated', {
    id: 'sub_1',
    type: 'subscription',
  })
  const dispute = world.shop.emit('charge.dispute.created', { id: 'dp_1', object: 'dispute', charge: 'ch_1' })
  const untimely = { ...world.shop.subscriptionsOf(customer)[0], status: 'past_due' }
  const timeless = world.shop.emit('customer.subscription.updated', untimely, { created: -1 })
  await world.deliver()

  for (const thin of ['evt_thin', 'evt_thin_sub'])
    expect(await world.event(thin)).toMatchObject({ reason: 'thin_event_without_data', outcome: 'permanent' })
  expect(await world.event(dispute.id)).toMatchObject({ reason: 'customer_unresolved', outcome: 'no_change' })
  expect(await world.event(timeless.id)).toMatchObject({ reason: 'unrecognized_stripe_payload' })
  expect(await world.query('select dispute_id from goodstanding.disputes')).toEqual([{ dispute_id: 'dp_1' }])
})

const postThin = (world: World, id: string, type: string, related: object) =>
  world.sim.delivery.post('default', world.shop.emit('customer.updated', {}), {
    body: JSON.stringify({
      id,
      object: 'v2.core.event',
      type,
      livemode: false,
      created: new Date().toISOString(),
      related_object: related,
    }),
  })

test('a payment that waited in vain stays a dead letter when its subscription comes: a requeue is explicit', async () => {
  const world = await openKeyless()
  await signUpWithoutDelivery(world)
  const [paid] = eventsOf(world, 'invoice.paid')
  await world.sim.delivery.post('default', eventsOf(world, 'customer.created')[0])
  await world.sim.delivery.post('default', paid)
  await world.settle()
  await world.query(
    `update goodstanding.billing_events
     set dead_letter_at = goodstanding.clock(), outcome = 'attempts_exhausted', next_attempt_at = null
     where event_id = $1`,
    [paid.id],
  )

  await world.sim.delivery.post('default', eventsOf(world, 'customer.subscription.created')[0])
  await world.settle()

  expect(await seatsOf(world)).toBe(2)
  expect(await world.event(paid.id)).toMatchObject({ outcome: 'attempts_exhausted', epoch: 1 })
})

test('an unknown price is deferred, and what is held stays until another catalog decides', async () => {
  const world = await openKeyless()
  const { id } = await signUp(world)
  await world.settle()
  await world.advance(DAY_MS)
  world.shop.updateSubscription(id, { items: [{ price: 'price_unmapped', quantity: 3 }] })
  await world.deliver()
  expect(await waiting(world, 'unmapped_stripe_price')).toEqual(['customer.subscription.updated'])
  expect(await seatsOf(world)).toBe(2)

  const later = { ...CATALOG.plans.pro, prices: [...CATALOG.plans.pro.prices, 'price_unmapped'] }
  replaceCatalog(world, { ...CATALOG, plans: { ...CATALOG.plans, pro: later } })
  await until(
    'it is in force',
    async () => (await world.query('select 1 from goodstanding.catalogs')).length === 2,
  )
  await hurry(world.query)
  await until('it is decided', async () => (await seatsOf(world)) === 3)
})

test('another catalog decides again what is known, as of the same time', async () => {
  const world = await openKeyless()
  await signUp(world)
  await world.settle()
  await world.advance(31 * DAY_MS)
  expect((await world.read('acme')).body).toMatchObject({ plan: 'pro', stale: true })

  const pro = { ...CATALOG.plans.pro, features: { export: true, reports: true } }
  replaceCatalog(world, { ...CATALOG, plans: { ...CATALOG.plans, pro } })

  await until(
    'the feature is there',
    async () => 'reports' in ((await world.read('acme')).body['features'] as object),
  )
  expect((await world.read('acme')).body).toMatchObject({ plan: 'pro', stale: true })
  expect(world.sim.calls()).toEqual([])
})

const replaceCatalog = (world: World, catalog: object) => {
  writeFileSync(world.env['CATALOG_FILE'] ?? '', JSON.stringify(catalog))
}

test('real money without a key is held until it is activated, and then worked', async () => {
  const real = { ...ACCOUNT, livemode: true }
  const world = await openWorld({ accounts: [real], keyless: ['default'] })
  await signUp(world)
  await world.sim.delivery.flush()
  expect(await world.query('select hold from goodstanding.accounts')).toEqual([{ hold: true }])
  expect(await world.query('select 1 from goodstanding.billing_events where attempts > 0')).toEqual([])

  expect((await cliOf(world)('activate', 'default', ...SIGNED)).code).toBe(0)
  await world.settle()

  expect(await seatsOf(world)).toBe(2)
})
