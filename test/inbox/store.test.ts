// Insert and enqueue are one transaction; duplicates change nothing and wait for nothing.
import { expect, inject, test } from 'vitest'
import pg from 'pg'
import { adminQuery } from '../harness/database.ts'
import { anEvent } from '../harness/event.ts'
import { postDelivery } from '../harness/post.ts'
import { openWorld, until, type World } from '../harness/world.ts'

const body = (id: string, over: Record<string, unknown> = {}) => JSON.stringify(anEvent({ id, ...over }))
const deliver = async (world: World, id: string) => (await postDelivery(world.url, body(id))).status
const jobs = (world: World) =>
  world.query<{ id: string; data: unknown; group_id: string }>(
    "select id, data, group_id from pgboss.job where name like 'billing.event.%' order by created_on",
  )

test('a new event is one row and one job that carries ids only', async () => {
  const world = await openWorld({ worker: false })

  expect(await deliver(world, 'evt_1')).toBe(200)

  const [job] = await jobs(world)
  expect(job).toEqual({
    id: expect.any(String),
    data: { account: 'default', eventId: 'evt_1', epoch: 1 },
    group_id: 'default:cus_A',
  })
  expect((await world.event('evt_1'))['job_id']).toBe(job?.id)
})

test('where the job cannot be made the event is not stored, and Stripe is told to come again', async () => {
  const world = await openWorld({ worker: false })
  await world.query(
    "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no' using errcode = '53100'; end $$",
  )
  await world.query(
    'create trigger refuse before insert on pgboss.job_common for each row execute function refuse()',
  )

  expect(await deliver(world, 'evt_1')).toBe(503)

  expect(await world.query('select 1 from goodstanding.billing_events')).toEqual([])
  await world.query('drop trigger refuse on pgboss.job_common')
  expect(await deliver(world, 'evt_1')).toBe(200)
  expect(await jobs(world)).toHaveLength(1)
})

test('a duplicate of a settled event writes nothing at all', async () => {
  const world = await openWorld()
  await deliver(world, 'evt_1')
  await world.settle()
  const [before] = await world.query('select xmin, deliveries from goodstanding.billing_events')

  expect(await deliver(world, 'evt_1')).toBe(200)

  expect(await world.query('select xmin, deliveries from goodstanding.billing_events')).toEqual([before])
})

test('a duplicate of a pending event is counted, but never waits for whoever holds the row', async () => {
  const world = await openWorld({ worker: false })
  await deliver(world, 'evt_1')
  await deliver(world, 'evt_1')
  expect((await world.event('evt_1'))['deliveries']).toBe(2)
  const holder = new pg.Client({ connectionString: world.database.url })
  await holder.connect()
  await holder.query('begin')
  await holder.query('select 1 from goodstanding.billing_events for update')

  expect(await deliver(world, 'evt_1')).toBe(200)

  await holder.query('rollback')
  await holder.end()
  expect((await world.event('evt_1'))['deliveries']).toBe(2)
  expect(await jobs(world)).toHaveLength(1)
})

test('the job of a pending event is sent again where it is gone, once, however many duplicates come', async () => {
  const world = await openWorld({ worker: false })
  await deliver(world, 'evt_1')
  await world.query('delete from pgboss.job')

  const statuses = await Promise.all(Array.from({ length: 20 }, () => deliver(world, 'evt_1')))

  expect(new Set(statuses)).toEqual(new Set([200]))
  const [job, ...others] = await jobs(world)
  expect(others).toEqual([])
  expect((await world.event('evt_1'))['job_id']).toBe(job?.id)
})

test('a hundred copies at once are one row, one job and a hundred answers of 200', async () => {
  const world = await openWorld({ worker: false })

  const statuses = await Promise.all(Array.from({ length: 100 }, () => deliver(world, 'evt_1')))

  expect(new Set(statuses)).toEqual(new Set([200]))
  expect(await jobs(world)).toHaveLength(1)
  expect((await world.event('evt_1'))['deliveries']).toBeGreaterThan(1)
})

test('one event that the database refuses is answered 503, and its neighbours 200', async () => {
  const world = await openWorld({ worker: false })
  await world.query(
    "create function refuse() returns trigger language plpgsql as $$ begin if new.event_id = 'evt_13' then raise exception 'no' using errcode = '23514'; end if; return new; end $$",
  )
  await world.query(
    'create trigger refuse before insert on goodstanding.billing_events for each row execute function refuse()',
  )

  const statuses = await Promise.all(Array.from({ length: 20 }, (_, index) => deliver(world, `evt_${index}`)))

  expect(
    statuses.map((status, index) => (status === 200 ? null : `evt_${index} ${status}`)).filter(Boolean),
  ).toEqual(['evt_13 503'])
  expect(await jobs(world)).toHaveLength(19)
})

// Holds the COMMIT of one event back (a deferred trigger waits for a lock that this holds); returns the release.
const holdCommit = async (world: World, eventId: string) => {
  const holder = new pg.Client({ connectionString: world.database.url })
  await holder.connect()
  await world.query(`
    create function wait() returns trigger language plpgsql as $$
    begin
      if new.event_id = '${eventId}' then perform pg_advisory_xact_lock(42); end if;
      return null;
    end $$;
    create constraint trigger wait after insert on goodstanding.billing_events
    deferrable initially deferred for each row execute function wait()`)
  await holder.query('select pg_advisory_lock(42)')
  return async () => {
    await holder.query('select pg_advisory_unlock(42)')
    await holder.end()
  }
}
const commitWaits = (world: World) =>
  until('the COMMIT waits', async () => {
    const waits = "select 1 from pg_stat_activity where wait_event = 'advisory' and query = 'COMMIT'"
    return (await world.query(waits)).length === 1
  })

test('nobody is answered before COMMIT', async () => {
  const world = await openWorld({ worker: false })
  const release = await holdCommit(world, 'evt_1')
  let answered = false

  const answer = deliver(world, 'evt_1').then((status) => {
    answered = true
    return status
  })
  await commitWaits(world)
  const before = answered
  await release()

  expect(before).toBe(false)
  expect(await answer).toBe(200)
})

test('a copy of an event that is being written holds up nobody else', async () => {
  const world = await openWorld({ worker: false })
  const release = await holdCommit(world, 'evt_1')
  const first = deliver(world, 'evt_1')
  await commitWaits(world)
  let copied = false

  const copy = deliver(world, 'evt_1').then((status) => {
    copied = true
    return status
  })
  const neighbour = await deliver(world, 'evt_2')
  const before = copied
  await release()

  expect([neighbour, before]).toEqual([200, false])
  expect([await first, await copy]).toEqual([200, 200])
  expect((await world.event('evt_1'))['deliveries']).toBe(2)
})

test('a lock that is not free within 2 s ends in 503, never in a success', async () => {
  const world = await openWorld({ worker: false })
  const holder = new pg.Client({ connectionString: world.database.url })
  await holder.connect()
  await holder.query('begin')
  await holder.query('lock table goodstanding.billing_events in exclusive mode')

  expect(await deliver(world, 'evt_1')).toBe(503)

  await holder.query('rollback')
  await holder.end()
  expect(await deliver(world, 'evt_1')).toBe(200)
})

test('a queue that is not there is no reason to lose an event: 503, nothing stored', async () => {
  const world = await openWorld({ worker: false })
  await world.query("update pgboss.queue set name = 'elsewhere' where name = 'billing.event.default'")

  expect(await deliver(world, 'evt_1')).toBe(503)

  expect(await world.query('select 1 from goodstanding.billing_events')).toEqual([])
  await world.query("update pgboss.queue set name = 'billing.event.default' where name = 'elsewhere'")
  expect(await deliver(world, 'evt_1')).toBe(200)
})

test('while the database is away every delivery is 503, and stored once it is back, without a restart', async () => {
  const world = await openWorld({ worker: false })
  const name = new URL(world.database.url).pathname.slice(1)
  const admin = (text: string) => adminQuery(inject('adminUrl'), text)
  await admin(`alter database ${name} with allow_connections false`)
  await admin(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)

  const away = await Promise.all(['evt_1', 'evt_2', 'evt_3'].map((id) => deliver(world, id)))
  await admin(`alter database ${name} with allow_connections true`)
  await until('deliveries are stored again', async () => (await deliver(world, 'evt_4')) === 200)

  expect(away).toEqual([503, 503, 503])
  expect(await world.query('select event_id from goodstanding.billing_events')).toEqual([
    { event_id: 'evt_4' },
  ])
})

test('every connection terminated: at worst 503, and the next delivery is stored without a restart', async () => {
  const world = await openWorld({ worker: false })
  await deliver(world, 'evt_1')
  await world.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'goodstanding%' and datname = current_database()",
  )

  const during = await deliver(world, 'evt_2')
  await until('deliveries are stored again', async () => (await deliver(world, 'evt_2')) === 200)

  expect([200, 503]).toContain(during)
  expect(await deliver(world, 'evt_3')).toBe(200)
  expect(await jobs(world)).toHaveLength(3)
})
