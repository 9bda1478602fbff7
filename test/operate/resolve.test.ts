// Dead letters that a requeue would only quarantine again: a person decides, having looked at Stripe, and is recorded.
import { expect, test } from 'vitest'
import { cliOf, SIGNED } from '../harness/cli.ts'
import { ACCOUNT, openWorld, until, type World } from '../harness/world.ts'

const CHECKED = ['--checked', 'one subscription of three seats']
const planOf = async (world: World, tenant = 'acme') => (await world.read(tenant)).body['plan']

// Two updates of one second that say different things: which is right, only Stripe knows.
const ambiguous = async (world: World) => {
  const { id: customer } = world.shop.customer({ metadata: { tenant_id: 'acme' } })
  const { id } = world.shop.subscribe(customer, { items: [{ price: 'price_pro', quantity: 2 }] })
  await world.deliver()
  world.shop.updateSubscription(id, { quantity: 3 })
  const [update] = world.shop
    .events()
    .filter(({ type }) => type === 'customer.subscription.updated')
    .slice(-1)
  if (update === undefined) throw new Error('no update')
  await world.deliver()
  const object = structuredClone(update.data.object) as unknown as {
    quantity?: number
    items: { data: { quantity: number }[] }
  }
  for (const item of object.items.data) item.quantity = 9
  delete object.quantity
  const other = { ...update, id: 'evt_other', data: { object } }
  await world.sim.delivery.post('default', other)
  await until('it is dead', async () => (await world.event('evt_other'))['dead_letter_at'] !== null)
  return customer
}

test('without a key a person must have looked; apply makes the event the accepted state', async () => {
  const world = await openWorld({ accounts: [ACCOUNT], keyless: ['default'] })
  const cli = cliOf(world)
  await ambiguous(world)
  expect(await world.event('evt_other')).toMatchObject({ reason: 'ambiguous_subscription_order' })
  expect((await world.read('acme')).body['seats']).toBe(3)

  const shown = await cli('dead', 'show', 'evt_other')
  expect(shown.said).toMatch(/No live state: account default has no API key here/)
  expect(await cli('resolve', 'evt_other', '--apply', ...SIGNED)).toMatchObject({
    code: 2,
    problems: expect.stringContaining('--checked') as string,
  })
  expect((await cli('resolve', 'evt_other', ...CHECKED, ...SIGNED)).code).toBe(2)
  expect((await cli('resolve', 'evt_other', '--apply', '--discard', ...CHECKED, ...SIGNED)).code).toBe(2)
  expect((await cli('resolve', 'evt_other', '--apply', ...CHECKED, ...SIGNED)).code).toBe(0)

  expect((await world.read('acme')).body['seats']).toBe(9)
  expect(await world.event('evt_other')).toMatchObject({ outcome: 'applied', dead_letter_at: null })
  expect((await cli('resolve', 'evt_other', '--apply', ...CHECKED, ...SIGNED)).code).toBe(6)
  expect((await cli('audit', 'list')).said).toMatch(
    /resolve --apply +default evt_other.*one subscription of three seats/,
  )
})

test('discard closes it: what is held stays, and the view of discards says so', async () => {
  const world = await openWorld({ accounts: [ACCOUNT], keyless: ['default'] })
  await ambiguous(world)

  expect((await cliOf(world)('resolve', 'evt_other', '--discard', ...CHECKED, ...SIGNED)).code).toBe(0)
  expect((await world.read('acme')).body['seats']).toBe(3)
  expect(
    await world.query("select event, reason from goodstanding.discards where event = 'evt_other'"),
  ).toHaveLength(1)
})

test('a second live subscription that a person accepts gives what both give', async () => {
  const world = await openWorld({ accounts: [ACCOUNT], keyless: ['default'] })
  const { id: customer } = world.shop.customer({ metadata: { tenant_id: 'acme' } })
  world.shop.subscribe(customer, { items: [{ price: 'price_basic' }] })
  await world.deliver()
  world.shop.subscribe(customer, { items: [{ price: 'price_pro' }] })
  await world.deliver()
  const [dead] = await world.query<{ event_id: string }>(
    "select event_id from goodstanding.billing_events where reason = 'ambiguous_multi_subscription' and type = 'customer.subscription.created'",
  )
  expect(await planOf(world)).toBe('basic')

  expect((await cliOf(world)('resolve', dead?.event_id ?? '', '--apply', ...CHECKED, ...SIGNED)).code).toBe(0)
  expect(await planOf(world)).toBe('pro')
})

test('with a key Stripe is shown beside, a requeue is foretold, and apply points to Stripe', async () => {
  const world = await openWorld()
  const cli = cliOf(world)
  const { id: customer } = world.shop.customer({ metadata: { tenant_id: 'acme' } })
  world.shop.subscribe(customer, { items: [{ price: 'price_basic' }] })
  await world.deliver()
  const { id: second } = world.shop.subscribe(customer, { items: [{ price: 'price_pro', quantity: 4 }] })
  await world.sim.delivery.flush()
  await until(
    'it is dead',
    async () =>
      (await world.query('select 1 from goodstanding.billing_events where dead_letter_at is not null'))
        .length > 0,
  )
  const [dead] = await world.query<{ event_id: string }>(
    'select event_id from goodstanding.billing_events where dead_letter_at is not null',
  )
  const id = dead?.event_id ?? ''

  expect((await cli('dead', 'show', id)).said).toMatch(
    /nothing can follow from what Stripe says: ambiguous_multi_subscription/,
  )
  expect((await cli('resolve', id, '--apply', ...SIGNED)).problems).toContain('end the ambiguity there')
  expect((await cli('dead', 'groups')).said).toMatch(/ambiguous_multi_subscription/)

  await world.stopWorker()
  const [first] = world.shop.subscriptionsOf(customer)
  world.shop.cancel(first?.id ?? '')
  const shown = (await cli('requeue', id, '--dry-run')).said
  expect(shown).toMatch(new RegExp(`${second} +active, price_pro x 4`))
  expect(shown).toMatch(/A requeue: .*gains sso/)
})
