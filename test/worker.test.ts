// The worker's loop: how fast it wakes, what it leaves alone, how it ends, what it says.
import { expect, test } from 'vitest'
import pg from 'pg'
import { resendLost } from '../src/inbox/sweep.ts'
import { forgetLog, loggedLines } from './harness/log-capture.ts'
import { openWorld, pending, seatsOf, signUp, until } from './harness/world.ts'

test('an idle worker is woken by NOTIFY, long before its poll', async () => {
  const world = await openWorld({ env: { STRIPE_RECONCILIATION_POLL_MS: '60000' } })
  await signUp(world)
  await until('it is listening and idle', async () => (await pending(world)) === 0, 61_000)
  await until('nobody works', () => world.settle().then(() => true))
  const { id } = world.shop.subscriptionsOf(
    world.shop.events().find(({ type }) => type === 'customer.created')?.data.object.id as string,
  )[0] ?? { id: '' }

  world.shop.updateSubscription(id, { quantity: 5 })
  await world.sim.delivery.flush()
  await until('it is applied', async () => (await seatsOf(world)) === 5, 5_000)

  const [row] = await world.query<{ ms: number }>(
    'select (extract(epoch from processed_at - received_at) * 1000)::float8 as ms from goodstanding.billing_events order by received_seq desc limit 1',
  )
  expect(row?.ms).toBeLessThan(2_000)
})

test('behind a transaction pooler the poll finds events without NOTIFY', async () => {
  const world = await openWorld({ env: { DATABASE_POOLED: 'true' } })

  await signUp(world)
  await world.settle()

  expect(await seatsOf(world)).toBe(2)
  expect(
    await world.query(
      "select 1 from pg_stat_activity where application_name = 'goodstanding-listen' and datname = current_database()",
    ),
  ).toEqual([])
})

test('a customer whose lock somebody holds costs others nothing and no attempt, and is done when it is free', async () => {
  const world = await openWorld()
  const busy = await signUp(world, 'busy')
  await world.settle()
  const holder = new pg.Client({ connectionString: world.database.url })
  await holder.connect()
  await holder.query('begin')
  await holder.query('select pg_advisory_xact_lock(hashtextextended($1, 7031964))', [
    `default:${busy.customer}`,
  ])
  world.shop.updateSubscription(busy.id, { quantity: 9 })
  const event = world.shop.events().at(-1)?.id ?? ''

  await signUp(world, 'free')
  await until('the other one is done', async () => (await seatsOf(world, 'free')) === 2)

  expect(await world.event(event)).toMatchObject({ attempts: 0, processed_at: null, reason: null })
  await holder.query('rollback')
  await holder.end()
  await until('the busy one is done', async () => (await seatsOf(world, 'busy')) === 9, 5_000)
  expect(await world.event(event)).toMatchObject({ attempts: 1 })
})

test('two workers on one database run each event once', async () => {
  const world = await openWorld({ worker: false })
  const ids = []
  for (let index = 0; index < 12; index += 1) ids.push((await signUp(world, `t${index}`)).id)
  for (const id of ids) for (const quantity of [3, 4, 5]) world.shop.updateSubscription(id, { quantity })
  await world.sim.delivery.flush({ shuffle: 8 })

  const second = await world.runtime.startWork()
  await world.startWorker()
  await world.settle()
  await second.drain()

  expect(
    await world.query('select event_id from goodstanding.event_attempts group by 1 having count(*) > 1'),
  ).toEqual([])
  const workers = await world.query('select distinct worker from goodstanding.event_attempts')
  expect(workers).toHaveLength(2)
  expect(
    await world.query('select distinct value from goodstanding.effective_entitlements where feature = $1', [
      'seats',
    ]),
  ).toEqual([{ value: 5 }])
})

test('a worker that is stopped while Stripe hangs gives the event back: no attempt is spent', async () => {
  const world = await openWorld()
  const { id } = await signUp(world)
  await world.settle()
  world.sim.faults.next({ path: /subscriptions/, times: 1, fault: { hang: true } })
  world.shop.updateSubscription(id, { quantity: 6 })
  const event = world.shop.events().at(-1)?.id ?? ''
  await world.sim.delivery.flush()
  await until('Stripe hangs', () => world.sim.faults.fired().length === 1)

  await world.stopWorker()

  expect(await world.event(event)).toMatchObject({ attempts: 0, processed_at: null })
  await world.startWorker()
  await until('it is applied', async () => {
    await world.query('update pgboss.job set start_after = now() where start_after > now()')
    return (await seatsOf(world)) === 6
  })
})

test('a pass that did something logs one line of counts, without an id', async () => {
  const world = await openWorld({ worker: false })
  await signUp(world)
  world.shop.subscribe(world.shop.customer().id, { items: [{ price: 'price_pro', quantity: 2 }] })
  await world.sim.delivery.flush()
  forgetLog()

  await world.startWorker()
  await world.settle()
  await until('the pass is over', () => loggedLines('worker.stripe_reconciliation').length > 0)

  const lines = loggedLines('worker.stripe_reconciliation')
  const sum = (field: string) => lines.reduce((total, line) => total + Number(line[field]), 0)
  expect([
    sum('applied') > 0,
    sum('ignored') > 0,
    sum('deferred') > 0,
    sum('retried'),
    sum('dead_lettered'),
  ]).toEqual([true, true, true, 0, 0])
  expect(Object.keys(lines[0] ?? {}).toSorted()).toEqual([
    'applied',
    'dead_lettered',
    'deferred',
    'duration_ms',
    'ignored',
    'level',
    'msg',
    'noop',
    'oldest_pending_ms',
    'postponed',
    'rerouted',
    'retried',
    'time',
  ])
})

test('at the end of the paid period Stripe is read again without an event', async () => {
  const world = await openWorld()
  const { id } = await signUp(world)
  await world.settle()
  await world.stopWorker()
  await world.advance(32 * 86_400_000)
  world.shop.renew(id, { payment: 'paid' })
  expect((await world.read('acme')).body).toMatchObject({ stale: true, plan: 'pro' })

  await world.startWorker()

  await until('the next period is known', async () => (await world.read('acme')).body['stale'] === false)
  const { seats } = (await world.read('acme')).body['features'] as Record<string, { until: string }>
  expect(Date.parse(seats?.until ?? '')).toBeGreaterThan(world.sim.clock.now())
})

test('another catalog has every customer read again', async () => {
  const world = await openWorld()
  await signUp(world)
  await world.settle()
  const before = world.sim.calls({ path: /^\/v1\/subscriptions$/ }).length

  await world.query("update goodstanding.customers set catalog_hash = 'another'")

  await until('it was read again', () => world.sim.calls({ path: /^\/v1\/subscriptions$/ }).length > before)
  await world.settle()
  const [row] = await world.query<{ catalog_hash: string }>('select catalog_hash from goodstanding.customers')
  expect(row?.catalog_hash).toBe(world.runtime.context.catalog().hash)
})

test('a job that was lost is sent again by the sweep; one that waits is not', async () => {
  const world = await openWorld({ worker: false })
  await signUp(world)
  const [kept] = await world.query<{ job_id: string }>(
    'select job_id from goodstanding.billing_events where processed_at is null limit 1',
  )
  await world.query("delete from pgboss.job where name like 'billing.event.%' and id <> $1", [kept?.job_id])
  await world.query("update goodstanding.billing_events set received_at = received_at - interval '3 minutes'")
  const { api, queue, log } = world.runtime.context
  const lost = (await pending(world)) - 1

  expect((await resendLost({ work: api, queue, log }, 'default')).sent).toBe(lost)
  expect((await resendLost({ work: api, queue, log }, 'default')).sent).toBe(0)
  await world.startWorker()
  await world.settle()

  expect(await seatsOf(world)).toBe(2)
  expect(loggedLines('inbox.sweep').at(-1)).toMatchObject({ alert: 'jobs_lost', sent: lost })
})
