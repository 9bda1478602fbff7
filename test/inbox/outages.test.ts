// Stripe away, slow, confused or refusing: nothing is counted, nothing dead-lettered, nothing applied from a part.
import { expect, test } from 'vitest'
import { loggedLines } from '../harness/log-capture.ts'
import { hurry } from '../harness/time-travel.ts'
import { ACCOUNT, openWorld, until, type World } from '../harness/world.ts'
import type { Fault } from '../stripe-sim/sim.ts'

const ITEMS = [{ price: 'price_pro', quantity: 2 }]

const withTenant = async (world: World, tenant = 'acme'): Promise<string> => {
  const customer = world.shop.customer({ metadata: { tenant_id: tenant } })
  const { id } = world.shop.subscribe(customer.id, { items: ITEMS })
  await world.deliver()
  return id
}
const seatsOf = async (world: World, tenant = 'acme') => (await world.read(tenant)).body['seats']
const settledInHaste = (world: World) =>
  until('all is settled', async () => {
    await hurry(world.query)
    return (
      (await world.query('select 1 from goodstanding.billing_events where processed_at is null')).length === 0
    )
  })
const accountRow = async (world: World) =>
  (await world.query<{ pause_cause: string | null }>('select pause_cause from goodstanding.accounts'))[0]

const TROUBLES: [string, Fault, string][] = [
  ['429 with Retry-After', { status: 429, retryAfter: 1 }, 'stripe_rate_limited'],
  ['429 without it', { status: 429 }, 'stripe_rate_limited'],
  ['500', { status: 500 }, 'stripe_unavailable'],
  ['503', { status: 503 }, 'stripe_unavailable'],
  ['truncated JSON', { truncate: true }, 'stripe_unavailable'],
  ['HTML with status 200', { html: true }, 'stripe_unavailable'],
  ['a 404 of somebody else', { notFoundWithoutError: true }, 'stripe_unavailable'],
]

test.each(TROUBLES)('%s is waited out: no attempt, no change, then applied', async (_what, fault, reason) => {
  const world = await openWorld()
  const id = await withTenant(world)
  world.sim.faults.next({ path: /\/v1\/subscriptions/, times: 1, fault })
  world.shop.updateSubscription(id, { quantity: 7 })
  const event = world.shop.events().at(-1)?.id ?? ''

  await world.sim.delivery.flush()
  await until('it is postponed', async () => (await world.event(event))['reason'] === reason)

  expect(world.sim.faults.fired()).toHaveLength(1)
  expect(await world.event(event)).toMatchObject({ attempts: 0, processed_at: null, dead_letter_at: null })
  expect(await seatsOf(world)).toBe(2)
  await settledInHaste(world)
  expect(await seatsOf(world)).toBe(7)
  expect(await world.event(event)).toMatchObject({ attempts: 1 })
})

test("a stranger's 404 never passes for a customer", async () => {
  const world = await openWorld()
  world.sim.faults.next({ path: /\/v1\/customers\//, times: 1, fault: { notFoundWithoutError: true } })
  const customer = world.shop.customer({ metadata: { tenant_id: 'acme' } })
  world.shop.subscribe(customer.id, { items: ITEMS })
  const event = world.shop.events().find(({ type }) => type === 'customer.subscription.created')
  await world.sim.delivery.post('default', event as never)

  await until('it is postponed', async () => {
    return (await world.event(event?.id ?? ''))['reason'] === 'stripe_unavailable'
  })

  expect(
    await world.query('select tenant_id from goodstanding.customers where tenant_id is not null'),
  ).toEqual([])
  await settledInHaste(world)
  expect(await seatsOf(world)).toBe(2)
})

test('a connection that hangs is given up after 8 s', async () => {
  const world = await openWorld()
  const id = await withTenant(world)
  world.sim.faults.next({ path: /\/v1\/subscriptions/, times: 1, fault: { hang: true } })
  world.shop.updateSubscription(id, { quantity: 7 })
  const event = world.shop.events().at(-1)?.id ?? ''

  await world.sim.delivery.flush()
  await until(
    'it is postponed',
    async () => (await world.event(event))['reason'] === 'stripe_unavailable',
    12_000,
  )

  expect(await world.event(event)).toMatchObject({ attempts: 0, last_error: expect.any(String) })
  await settledInHaste(world)
  expect(await seatsOf(world)).toBe(7)
})

test('a page that fails applies nothing of the pages before', async () => {
  const world = await openWorld()
  const customer = world.shop.customer({ metadata: { tenant_id: 'acme' } })
  for (let index = 0; index < 101; index += 1)
    world.shop.cancel(world.shop.subscribe(customer.id, { items: ITEMS }).id)
  world.shop.subscribe(customer.id, { items: ITEMS })
  world.sim.faults.next({ path: /\/v1\/subscriptions/, times: 1, fault: { failPage: 2 } })
  const last = world.shop.events().findLast(({ type }) => type === 'customer.subscription.created')?.id ?? ''
  await world.sim.delivery.post('default', world.shop.events().find(({ id }) => id === last) as never)

  await until('it is postponed', async () => (await world.event(last))['reason'] === 'stripe_unavailable')

  expect(await world.query('select 1 from goodstanding.subscriptions')).toEqual([])
  await settledInHaste(world)
  const [count] = await world.query('select count(*)::int from goodstanding.subscriptions')
  expect(count).toEqual({ count: 102 })
  expect((await world.read('acme')).body).toMatchObject({ plan: 'pro', seats: 2 })
})

test('401 pauses the account, and a probe lifts that without a restart', async () => {
  const world = await openWorld()
  const id = await withTenant(world)
  world.sim.faults.next({ times: 3, fault: { status: 401 } })
  world.shop.updateSubscription(id, { quantity: 7 })
  const event = world.shop.events().at(-1)?.id ?? ''

  await world.sim.delivery.flush()
  await until(
    'the account is paused',
    async () => (await accountRow(world))?.pause_cause === 'stripe_unauthorized',
  )

  expect(await world.event(event)).toMatchObject({ attempts: 0, reason: 'stripe_unauthorized' })
  expect(loggedLines('stripe.account_paused').at(-1)).toMatchObject({
    account: 'default',
    alert: 'stripe_unauthorized',
  })
  await until('a probe has lifted it', async () => {
    await world.query(
      'update goodstanding.accounts set probe_at = clock_timestamp() where pause_cause is not null',
    )
    return (await accountRow(world))?.pause_cause === null
  })
  await settledInHaste(world)
  expect(await seatsOf(world)).toBe(7)
})

test('403 is a finding about the key and stops nothing else', async () => {
  const world = await openWorld()
  const id = await withTenant(world)
  world.sim.faults.next({ path: /\/v1\/subscriptions/, times: 1, fault: { status: 403 } })
  world.shop.updateSubscription(id, { quantity: 7 })
  const event = world.shop.events().at(-1)?.id ?? ''

  await world.sim.delivery.flush()
  await until('it is postponed', async () => (await world.event(event))['reason'] === 'permission_missing')

  expect(await world.query('select code, subject from goodstanding.findings')).toEqual([
    { code: 'permission_missing', subject: 'default' },
  ])
  expect((await accountRow(world))?.pause_cause).toBeNull()
  await settledInHaste(world)
  expect(await seatsOf(world)).toBe(7)
})

test('two customers that cannot be read pause nothing; a third one pauses the account', async () => {
  const world = await openWorld()
  const ids = [await withTenant(world, 'a'), await withTenant(world, 'b'), await withTenant(world, 'c')]
  world.sim.faults.next({ path: /\/v1\/subscriptions/, times: 3, fault: { status: 500 } })
  const change = async (id: string | undefined) => {
    world.shop.updateSubscription(id ?? '', { quantity: 9 })
    const event = world.shop.events().at(-1)?.id ?? ''
    await world.sim.delivery.flush()
    await until('it is postponed', async () => (await world.event(event))['reason'] === 'stripe_unavailable')
  }

  await change(ids[0])
  await change(ids[1])
  expect((await accountRow(world))?.pause_cause).toBeNull()
  await change(ids[2])

  expect((await accountRow(world))?.pause_cause).toBe('stripe_unavailable')
  await settledInHaste(world)
  expect(await seatsOf(world, 'c')).toBe(9)
})

test('an account that is paused does not hold up another', async () => {
  const other = {
    ...ACCOUNT,
    name: 'other',
    id: 'acct_2',
    apiKey: 'sk_test_other00000000000001',
    webhookSecret: 'whsec_other',
  }
  const world = await openWorld({ accounts: [ACCOUNT, other] })
  await world.query(
    "update goodstanding.accounts set paused_since = now(), pause_cause = 'stripe_account_changed' where account = 'default'",
  )
  const buy = (name: string, tenant: string) => world.sim.account(name).checkout({ tenant, items: ITEMS })
  buy('default', 'acme')
  buy('other', 'bolt')

  await world.sim.delivery.flush()
  await until('the other account is done', async () => (await world.read('bolt')).body['plan'] === 'pro')

  expect((await world.read('acme')).status).toBe(404)
  const [left] = await world.query(
    "select count(*)::int > 3 as waiting from goodstanding.billing_events where account = 'default' and processed_at is null",
  )
  expect(left).toEqual({ waiting: true })
})
