// Arrival order does not matter: a life cycle of twelve tenants, delivered in twenty random orders with duplicates and
// losses while Stripe fails now and then, ends as an independent reading of Stripe expects.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { brokenPromises } from '../harness/cli.ts'
import { CATALOG, openWorld, until, type World } from '../harness/world.ts'
import { FIRST_MONTHS, TENANTS, type Stage } from '../demo/stories.ts'
import { expectedEntitlements } from '../stripe-sim/oracle.ts'
import { seededRng, type Shop } from '../stripe-sim/sim.ts'
import { hurry } from '../harness/time-travel.ts'

const DAY_MS = 86_400_000
const ORDERS = Array.from({ length: 20 }, (_, index) => index + 1)

test.each(ORDERS)('order %i of a life cycle ends as Stripe has it', async (seed) => {
  const world = await openWorld({ seed })
  await liveThrough(world, seed)

  for (const { id } of TENANTS) {
    const expected = expectedEntitlements(world.shop, CATALOG as never, id, world.sim.clock.now())
    expect({ id, ...(await effective(world, id)) }).toEqual({ id, ...expected })
  }
  expect(await world.query(unsettled)).toEqual([])
  expect(await brokenPromises(world)).toEqual([])
  expect(await world.query(appliedTwice)).toEqual([])
  expect(await world.query(privateJobs)).toEqual([])
  expect(await silentDisagreements(world)).toEqual([])
})

test('the faults, the losses and the disagreements of these orders really happen', async () => {
  const world = await openWorld({ seed: 3 })

  const lost = await liveThrough(world, 3, 0.15)

  const kinds = new Set(world.sim.faults.fired().map(({ kind }) => kind))
  expect([...kinds].toSorted()).toEqual(['429', '500', 'reset', 'truncate'])
  expect(lost).toBeGreaterThan(10)
  const [superseded] = await world.query<{ count: number }>(
    "select count(*)::int as count from goodstanding.billing_events where reason = 'superseded_by_live_state'",
  )
  expect(superseded?.count).toBeGreaterThan(5)
})

// Everything once: business goes on whether or not its webhooks have arrived; in the end Stripe delivers what is left.
const liveThrough = async (world: World, seed: number, rate = 0.04): Promise<number> => {
  const random = seededRng(seed)
  const { shop, sim } = world
  shop.price({ id: 'price_pro_yearly', lookupKey: 'pro_yearly', unitAmount: 20_000, interval: 'year' })
  sim.faults.chaos({
    seed,
    rate,
    kinds: [{ status: 429 }, { status: 500 }, { reset: true }, { truncate: true }],
  })
  const stage: Stage = {
    shop,
    known: new Map(),
    link: (tenant, customer) => linkByHost(world, shop, tenant, customer),
  }
  let today = 0
  let lost = 0
  for (const { day, act } of FIRST_MONTHS) {
    await world.advance((day - today) * DAY_MS)
    today = day
    await act(stage)
    shop.tick()
    if (random() < 0.5) continue
    const stats = await sim.delivery.flush({
      shuffle: seed + day,
      duplicates: 0.3,
      lose: 0.3,
      concurrency: 8,
    })
    lost += stats.lost
    if (random() < 0.3) await settleInHaste(world)
  }
  await sim.delivery.flush({ shuffle: seed, duplicates: 0.3, lose: 0.2, concurrency: 8 })
  await sim.delivery.redeliver({ shuffle: seed + 1, concurrency: 8 })
  await settleInHaste(world)
  return lost
}

const linkByHost = async (world: World, shop: Shop, tenant: string, customer: string) => {
  const result = await world.link(tenant, customer)
  if (result !== 200) throw new Error(`linking ${tenant} was answered with ${result}`)
  shop.linkedByHost(customer, tenant)
}

const settleInHaste = (world: World) =>
  until(
    'everything is settled',
    async () => {
      await hurry(world.query)
      await sleep(100)
      const [row] = await world.query<{ open: number }>(
        'select count(*)::int as open from goodstanding.billing_events where processed_at is null and dead_letter_at is null',
      )
      return row?.open === 0
    },
    60_000,
  )

const effective = async (world: World, tenant: string) => {
  await world.settle()
  const { body } = await world.read(tenant)
  const { plan, active, state, seats, features } = body as Record<string, unknown> & {
    features: Record<string, { value: unknown }>
  }
  const values = Object.entries(features).map(([name, { value }]) => [name, value])
  return { plan, active, state, seats, features: Object.fromEntries(values) }
}

const unsettled = `
  select event_id
  from goodstanding.billing_events
  where (processed_at is null) = (dead_letter_at is null)
    or dead_letter_at is not null`

// Job data and output hold ids and codes only: pg-boss's tools show both.
const privateJobs = `
  select name, data, output
  from pgboss.job
  where (name like 'billing.event.%' and data - array['account', 'eventId', 'epoch'] <> '{}')
    or (name like 'customer.reconcile.%' and data - array['account', 'customerId', 'cause'] <> '{}')
    or coalesce(output - 'code', '{}') <> '{}'
    or coalesce(output ->> 'code', '') !~ '^[a-z_]*$'`

const appliedTwice = `
  select event_id
  from goodstanding.event_attempts
  where outcome = 'done'
  group by event_id
  having count(*) > 1
  union all
  select event_id
  from goodstanding.billing_audit
  where kind = 'applied'
  group by event_id
  having count(*) > 1`

// Subscription events whose status is not Stripe's any more, although that was so when they were settled last.
const silentDisagreements = async (world: World): Promise<string[]> => {
  const rows = await world.query<{
    event_id: string
    status: string
    subscription: string
    outcome: string
    last: boolean
  }>(`
    select event_id, payload::jsonb #>> '{data,object,status}' as status, object_id as subscription, outcome,
      processed_at > (select max(processed_at) - interval '1 second' from goodstanding.billing_events) as last
    from goodstanding.billing_events
    where type like 'customer.subscription.%'`)
  return rows
    .filter(
      ({ last, status, subscription }) => last && status !== world.shop.subscription(subscription).status,
    )
    .filter(({ outcome }) => outcome !== 'superseded')
    .map(({ event_id }) => event_id)
}
