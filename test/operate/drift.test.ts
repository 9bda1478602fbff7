// A whole account beside Stripe: what is found in both directions, what is followed at once, what waits for a person.
import { expect, test } from 'vitest'
import { answerOf, cliOf, SIGNED } from '../harness/cli.ts'
import { runSweep } from '../harness/sweeps.ts'
import { openWorld, seatsOf, signUp, until, type World } from '../harness/world.ts'

type Report = { compared: number; differences: { customerId: string; kind: string; effect: string }[] }
const dryRun = async (world: World) => answerOf<Report>(cliOf(world)('drift', '--dry-run', '--json'))
const kinds = ({ differences }: Report) => differences.map(({ kind, effect }) => `${kind} ${effect}`)
/** What Stripe told just now never comes. */
const lose = ({ sim }: World) => sim.delivery.flush({ lose: 1 })
const planOf = async (world: World, tenant: string) => (await world.read(tenant)).body['plan']
const runs = (world: World) =>
  world.query('select state, losses, budget, approved_by from goodstanding.drift_runs order by run_id')

test('without a difference a comparison says so and records nothing but itself', async () => {
  const world = await openWorld()
  await signUp(world)
  await world.settle()

  const calls = () => world.sim.calls({ path: /^\/v1\//, method: 'GET' }).length
  const before = calls()
  expect(await dryRun(world)).toMatchObject({ compared: 1, differences: [] })
  // The list alone: whom nobody suspects is not asked for.
  expect(calls() - before).toBe(1)
  expect(await runs(world)).toEqual([])
  expect((await runSweep(world, 'drift'))['result']).toMatchObject({ compared: 1, differences: 0 })
  expect(await runs(world)).toMatchObject([{ state: 'done', losses: 0 }])
})

test('grants and losses that no webhook told are found, and within the budget both are followed', async () => {
  const world = await openWorld()
  const ada = await signUp(world, 'ada')
  const bob = await signUp(world, 'bob')
  await world.settle()
  world.shop.updateSubscription(ada.id, { quantity: 7 })
  world.shop.cancel(bob.id)
  await lose(world)

  const report = await dryRun(world)
  expect(new Set(kinds(report))).toEqual(new Set(['differs gains', 'missing_at_stripe loses']))
  expect(await seatsOf(world, 'ada')).toBe(2)

  await runSweep(world, 'drift')
  await world.settle()
  expect(await seatsOf(world, 'ada')).toBe(7)
  expect(await planOf(world, 'bob')).toBe('free')
  expect(
    await world.query(
      "select kind, reason from goodstanding.billing_audit where kind = 'drifted' order by reason",
    ),
  ).toEqual([
    { kind: 'drifted', reason: 'differs' },
    { kind: 'drifted', reason: 'missing_at_stripe' },
  ])
  expect(await dryRun(world)).toMatchObject({ differences: [] })
})

test('a subscription that we never heard of, of a customer whom we know, is a gain', async () => {
  const world = await openWorld()
  const { id } = world.shop.customer({ metadata: { tenant_id: 'acme' } })
  await world.deliver()
  world.shop.subscribe(id, { items: [{ price: 'price_pro', quantity: 4 }] })
  await lose(world)

  expect(kinds(await dryRun(world))).toEqual(['unknown_subscription gains'])
  await runSweep(world, 'drift')
  await world.settle()
  expect(await seatsOf(world, 'acme')).toBe(4)
})

test('past the budget nobody loses access until a person approves; grants are followed meanwhile', async () => {
  const world = await openWorld({ env: { DRIFT_MAX_REVOCATIONS: '1' } })
  const [ada, bob, eve] = [await signUp(world, 'ada'), await signUp(world, 'bob'), await signUp(world, 'eve')]
  await world.settle()
  world.shop.cancel(ada.id)
  world.shop.cancel(bob.id)
  world.shop.updateSubscription(eve.id, { quantity: 9 })
  await lose(world)

  await runSweep(world, 'drift')
  await world.settle()
  expect(await seatsOf(world, 'eve')).toBe(9)
  expect([await planOf(world, 'ada'), await planOf(world, 'bob')]).toEqual(['pro', 'pro'])
  const status = await cliOf(world)('status')
  expect(status).toMatchObject({ code: 3, said: expect.stringContaining('drift_budget') as string })
  expect((await cliOf(world)('drift', 'list')).said).toMatch(/waiting/)
  expect((await cliOf(world)('drift', 'show', '1')).said).toMatch(/missing_at_stripe.*yes/)

  expect((await cliOf(world)('drift', 'approve', '1')).code).toBe(2)
  expect((await cliOf(world)('drift', 'approve', '1', ...SIGNED)).code).toBe(0)
  expect((await cliOf(world)('drift', 'approve', '1', ...SIGNED)).code).toBe(6)
  await world.settle()
  expect([await planOf(world, 'ada'), await planOf(world, 'bob')]).toEqual(['free', 'free'])
  expect(await runs(world)).toMatchObject([{ state: 'approved', losses: 2, budget: 1, approved_by: 'ada' }])
})

test('a customer from before our time is linked by its metadata; one that nobody named becomes a finding', async () => {
  const world = await openWorld()
  const named = world.shop.customer()
  world.shop.subscribe(named.id, {
    items: [{ price: 'price_pro', quantity: 3 }],
    metadata: { tenant_id: 'early' },
  })
  const ofCustomer = world.shop.customer({ metadata: { tenant_id: 'older' } })
  world.shop.subscribe(ofCustomer.id, { items: [{ price: 'price_basic' }] })
  const nameless = world.shop.customer()
  world.shop.subscribe(nameless.id, { items: [{ price: 'price_pro' }] })
  await lose(world)

  await runSweep(world, 'drift')
  await world.settle()
  expect(await seatsOf(world, 'early')).toBe(3)
  expect(await planOf(world, 'older')).toBe('basic')
  expect((await cliOf(world)('findings', 'list')).said).toMatch(
    new RegExp(`live_without_tenant +${nameless.id}`),
  )
  expect((await cliOf(world)('customers', 'list', '--unlinked')).said).toBe(
    'Every customer for whom something waits is linked.',
  )

  expect((await cliOf(world)('link', 'late', nameless.id, ...SIGNED)).code).toBe(0)
  await world.settle()
  expect(await planOf(world, 'late')).toBe('pro')
  await runSweep(world, 'drift')
  expect((await cliOf(world)('findings', 'list')).said).toBe('No findings.')
})

test('what a list leaves out is asked for by its customer before anybody believes that it is gone', async () => {
  const world = await openWorld()
  const clocked = world.shop.customer({
    metadata: { tenant_id: 'acme' },
    testClock: { frozenTime: Math.floor(Date.now() / 1_000) },
  })
  world.shop.subscribe(clocked.id, { items: [{ price: 'price_pro' }] })
  await world.deliver()
  expect(await planOf(world, 'acme')).toBe('pro')

  expect(await dryRun(world)).toMatchObject({ compared: 0, differences: [] })
})

test('a comparison that Stripe breaks off fails visibly, changes nothing, and comes again', async () => {
  const world = await openWorld()
  const { id } = await signUp(world)
  await world.settle()
  world.shop.cancel(id)
  await lose(world)
  world.sim.faults.next({ path: /subscriptions$/, times: 50, fault: { status: 500 } })

  const row = await runSweep(world, 'drift')
  expect(row).toMatchObject({ failures: 1, last_error: 'unavailable' })
  expect(await planOf(world, 'acme')).toBe('pro')
  await until('it is due again', async () => {
    const [due] = await world.query<{ due: boolean }>(
      "select due_at < clock_timestamp() + interval '20 minutes' as due from goodstanding.sweeps where name = 'drift'",
    )
    return due?.due === true
  })
})
