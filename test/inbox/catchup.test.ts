// Missed events: what Stripe made and nobody delivered is found in Stripe's own list and applied like any other.
import { expect, test } from 'vitest'
import { until } from '../harness/service.ts'
import { runSweep, sweepRow } from '../harness/sweeps.ts'
import { openWorld, signUp, type World } from '../harness/world.ts'

const MINUTE_MS = 60_000
const LISTS = { path: /^\/v1\/events$/ }

const sweep = async (world: World) => (await sweepRow(world, 'catchup')) ?? {}
const catchUp = async (world: World) => {
  await runSweep(world, 'catchup')
  await world.settle()
}
const bySource = ({ query }: World) =>
  query('select source, count(*)::int as count from goodstanding.billing_events group by 1 order by 1')

test('what was never delivered is found, marked and applied; what was, is left alone', async () => {
  const world = await openWorld()
  const { id } = await signUp(world)
  await world.settle()
  const before = await bySource(world)
  world.shop.updateSubscription(id, { quantity: 9 })

  await catchUp(world)
  // Too young: it may still come by webhook.
  expect(await bySource(world)).toEqual(before)
  await world.advance(3 * MINUTE_MS)
  await catchUp(world)

  const missed = world.shop.events().findLast(({ type }) => type === 'customer.subscription.updated')
  expect(await world.event(missed?.id ?? '')).toMatchObject({ source: 'catchup', outcome: 'applied' })
  expect((await world.read('acme')).body['seats']).toBe(9)
  expect((await bySource(world)).find(({ source }) => source === 'webhook')).toEqual(before[0])
  expect(await sweep(world)).toMatchObject({ failures: 0, cursor: null, result: { stored: 1 } })

  // The webhook comes after all: a duplicate like any other.
  await world.deliver()
  expect(await world.event(missed?.id ?? '')).toMatchObject({ source: 'catchup' })
  expect((await world.read('acme')).body['seats']).toBe(9)
})

test('types without bearing are not fetched into the inbox', async () => {
  const world = await openWorld()
  world.shop.product('prod_quiet')
  world.shop.emit('payout.paid', { id: 'po_1', object: 'payout' })
  const ignored = world.shop.events().find(({ type }) => type === 'payout.paid')
  await world.advance(3 * MINUTE_MS)

  await catchUp(world)

  expect(
    await world.query('select 1 from goodstanding.billing_events where event_id = $1', [ignored?.id]),
  ).toEqual([])
})

test('a second run asks only for what came since, with an overlap', async () => {
  const world = await openWorld()
  await world.advance(60 * MINUTE_MS)
  await catchUp(world)
  const through = (await sweepRow(world, 'catchup'))?.['through_at']

  await catchUp(world)

  const [from] = world.sim
    .calls(LISTS)
    .slice(-1)
    .map(({ query }) => new URLSearchParams(query).get('created[gte]'))
  expect(Number(from) * 1_000).toBeGreaterThan((through as Date).getTime() - 11 * MINUTE_MS)
})

test('a failed run says so, keeps what was reached, and is made up for', async () => {
  const world = await openWorld()
  const { customer } = await signUp(world)
  await world.settle()
  world.shop.updateCustomer(customer, { email: 'new@example.com' })
  await world.advance(3 * MINUTE_MS)
  world.sim.faults.next({ ...LISTS, times: 3, fault: { status: 503 } })

  await catchUp(world)
  expect(await sweep(world)).toMatchObject({ failures: 1, through_at: null, last_error: 'unavailable' })
  world.sim.faults.clear()
  await catchUp(world)

  expect(await sweep(world)).toMatchObject({ failures: 0, last_error: null, result: { stored: 1 } })
})

test('of two processes one runs it', async () => {
  const world = await openWorld()
  const other = await world.runtime.startWork()
  await until('the sweep is known', async () => (await sweepRow(world, 'catchup')) !== undefined)
  const before = world.sim.calls(LISTS).length
  // So slow that the other one looks meanwhile.
  world.sim.faults.next({ ...LISTS, times: 2, fault: { delayMs: 6_000 } })

  await catchUp(world)

  expect(world.sim.calls(LISTS).length - before).toBe(1)
  await other.drain()
})

test('a list longer than a share goes on where it stopped', async () => {
  const world = await openWorld()
  const { customer } = await signUp(world)
  await world.settle()
  world.shop.updateCustomer(customer, { email: 'oldest@example.com' })
  // Newest first: what was missed is on the last page.
  for (let count = 0; count < 2_050; count += 1)
    world.shop.emit('payout.paid', { id: 'po_1', object: 'payout' })
  await world.advance(3 * MINUTE_MS)
  const before = world.sim.calls(LISTS).length

  await catchUp(world)
  await until(
    'it has come to the end',
    async () => (await sweepRow(world, 'catchup'))?.['through_at'] !== null,
  )
  await world.settle()

  expect(world.sim.calls(LISTS).length - before).toBe(21)
  expect(await sweep(world)).toMatchObject({ cursor: null, result: { pages: 21, stored: 1 } })
})
