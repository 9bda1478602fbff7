// Which failures count, how long each waits, and where an event ends that never succeeds (rules.md section 7).
import { expect, test } from 'vitest'
import { forgetLog, loggedLines } from '../harness/log-capture.ts'
import { hurry } from '../harness/time-travel.ts'
import { openWorld, until, type World } from '../harness/world.ts'

// A tenant with a subscription, and an event of it that the worker has still to see.
const withEvent = async (world: World): Promise<string> => {
  const customer = world.shop.customer({ metadata: { tenant_id: 'acme' } })
  const subscription = world.shop.subscribe(customer.id, { items: [{ price: 'price_pro', quantity: 2 }] })
  await world.deliver()
  world.shop.updateSubscription(subscription.id, { quantity: 3 })
  return world.shop.events().at(-1)?.id ?? ''
}

const breakSql = (world: World, table: string, when: string, condition = 'true') =>
  world.query(`
    create function broken() returns trigger language plpgsql as $$
    begin
      if ${condition} then raise exception 'secret detail' using errcode = '23514'; end if;
      return new;
    end $$;
    create trigger broken before ${when} on goodstanding.${table} for each row execute function broken()`)
const mendSql = (world: World, table: string) => world.query(`drop trigger broken on goodstanding.${table}`)

const attemptsOf = async (world: World, event: string) => Number((await world.event(event))['attempts'])

const failUntil = async (world: World, event: string, attempts: number) => {
  for (let done = await attemptsOf(world, event); done < attempts;) {
    await hurry(world.query)
    const now = done
    await until(`attempt ${now + 1} has failed`, async () => (done = await attemptsOf(world, event)) > now)
  }
}

test('a failure of our own statements counts, waits 5 s doubling, and leaves nothing half written', async () => {
  const world = await openWorld()
  const event = await withEvent(world)
  await breakSql(world, 'customers', 'update')
  await world.sim.delivery.flush()
  const waits: number[] = []

  for (const attempt of [1, 2, 3]) {
    await failUntil(world, event, attempt)
    const [row] = await world.query<{ wait: number }>(
      'select extract(epoch from next_attempt_at - last_error_at)::float8 as wait from goodstanding.billing_events where event_id = $1',
      [event],
    )
    waits.push(row?.wait ?? 0)
  }

  for (const [index, wait] of waits.entries()) {
    expect(wait).toBeGreaterThanOrEqual(5 * 2 ** index * 0.74)
    expect(wait).toBeLessThanOrEqual(5 * 2 ** index * 1.01)
  }
  const row = await world.event(event)
  expect([row['reason'], row['last_error']]).toEqual(['internal_error', expect.stringContaining('23514')])
  expect(String(row['last_error'])).not.toContain('secret')
  expect((await world.read('acme')).body['seats']).toBe(2)
  await mendSql(world, 'customers')
  await hurry(world.query)
  await until('it is applied', async () => (await world.event(event))['processed_at'] !== null)
  expect((await world.read('acme')).body['seats']).toBe(3)
})

test('after 12 attempts it is dead: in the row, in billing.dead, with an attempt each and two alarms', async () => {
  const world = await openWorld()
  const event = await withEvent(world)
  await breakSql(world, 'customers', 'update')
  await world.sim.delivery.flush()

  await failUntil(world, event, 12)

  const row = await world.event(event)
  expect(row).toMatchObject({
    outcome: 'attempts_exhausted',
    reason: 'internal_error',
    processed_at: null,
    attempts: 12,
  })
  expect(row['dead_letter_at']).not.toBeNull()
  const [dead] = await world.query("select id, data, state from pgboss.job where name = 'billing.dead'")
  expect(dead).toEqual({
    id: row['job_id'],
    data: { account: 'default', eventId: event, epoch: 1, reason: 'internal_error' },
    state: 'created',
  })
  expect(
    await world.query(
      'select outcome from goodstanding.event_attempts where event_id = $1 order by attempt_id',
      [event],
    ),
  ).toEqual([...Array.from({ length: 11 }, () => ({ outcome: 'retry' })), { outcome: 'dead' }])
  expect(loggedLines('inbox.attempt').filter((line) => line['event_id'] === event)).toMatchObject([
    { alert: 'attempt_5', attempts: 5 },
  ])
  expect(loggedLines('inbox.dead_letter').filter((line) => line['event_id'] === event)).toMatchObject([
    { alert: 'dead_letter' },
  ])
})

test('an attempt that cannot even be settled is recorded on the connection kept for that, and counts', async () => {
  const world = await openWorld()
  const event = await withEvent(world)
  await breakSql(world, 'billing_events', 'update', 'new.processed_at is not null')
  await world.sim.delivery.flush()

  await failUntil(world, event, 2)

  expect((await world.event(event))['reason']).toBe('internal_error')
  expect((await world.read('acme')).body['seats']).toBe(2)
  await mendSql(world, 'billing_events')
  await hurry(world.query)
  await until('it is applied', async () => (await world.event(event))['processed_at'] !== null)
  expect((await world.read('acme')).body['seats']).toBe(3)
})

test('where not even that can be written, an alarm is raised and the customer left alone for a while', async () => {
  const world = await openWorld()
  const event = await withEvent(world)
  await breakSql(world, 'billing_events', 'update', `new.event_id = '${event}'`)
  forgetLog()

  await world.sim.delivery.flush()
  await until('the alarm is raised', () => loggedLines('worker.not_recorded').length > 0)
  const other = world.shop.customer({ metadata: { tenant_id: 'other' } })
  world.shop.subscribe(other.id, { items: [{ price: 'price_pro', quantity: 1 }] })
  await world.sim.delivery.flush()
  await until('others go on', async () => (await world.read('other')).body['plan'] === 'pro')

  expect(loggedLines('worker.not_recorded').length).toBeLessThan(5)
  await mendSql(world, 'billing_events')
  await until('it is applied', async () => (await world.event(event))['processed_at'] !== null)
})

test('a deferral waits a minute, doubling, under its own code', async () => {
  const world = await openWorld()
  const customer = world.shop.customer()
  world.shop.subscribe(customer.id, { items: [{ price: 'price_pro', quantity: 1 }] })

  await world.deliver()

  const [row] = await world.query<{ wait: number; attempts: number; last_error: null }>(`
    select extract(epoch from next_attempt_at - last_error_at)::float8 as wait, attempts
    from goodstanding.billing_events where reason = 'customer_not_linked' and processed_at is null limit 1`)
  expect(row?.attempts).toBe(1)
  expect(row?.wait).toBeGreaterThanOrEqual(44)
  expect(row?.wait).toBeLessThanOrEqual(60.1)
})

test('an outage of Stripe spends no attempt, however often it is met', async () => {
  const world = await openWorld()
  const event = await withEvent(world)
  world.sim.faults.next({ path: /subscriptions/, times: 3, fault: { status: 500 } })
  await world.sim.delivery.flush()

  await until('it was met three times', async () => {
    await hurry(world.query)
    return world.sim.faults.fired().length === 3
  })
  await until('it is applied', async () => {
    await hurry(world.query)
    return (await world.event(event))['processed_at'] !== null
  })

  expect(await attemptsOf(world, event)).toBe(1)
  const outcomes = await world.query<{ outcome: string }>(
    'select outcome from goodstanding.event_attempts where event_id = $1 order by attempt_id',
    [event],
  )
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['postponed', 'postponed', 'postponed', 'done'])
})

test('a job for an event that is settled, or of another epoch, ends as a no-op that says so', async () => {
  const world = await openWorld()
  const event = await withEvent(world)
  await world.deliver()
  const { queue, api } = world.runtime.context
  const before = await world.event(event)

  const ids = await api.transaction((tx) =>
    queue.enqueue(
      tx,
      'billing.event.default',
      [1, 2].map((epoch) => ({ data: { account: 'default', eventId: event, epoch }, group: 'default:x' })),
    ),
  )

  await until('both ended', async () => {
    const rows = await world.query('select output from pgboss.job where id = any($1) and state = $2', [
      ids,
      'completed',
    ])
    return rows.length === 2 && JSON.stringify(rows).includes('not_pending')
  })
  expect(await world.event(event)).toEqual(before)
})

test('an event that somebody settled or requeued while it ran: all that this attempt did is undone', async () => {
  const world = await openWorld()
  const event = await withEvent(world)
  world.sim.faults.next({ path: /subscriptions/, times: 1, fault: { delayMs: 1_500 } })
  await world.sim.delivery.flush()
  await until('Stripe is being read', () => world.sim.faults.fired().length === 1)

  await world.query('update goodstanding.billing_events set epoch = 2 where event_id = $1', [event])
  const { job_id: job } = await world.event(event)
  await until('its job has ended as a no-op', async () => {
    const rows = await world.query('select output from pgboss.job where id = $1 and state = $2', [
      job,
      'completed',
    ])
    return JSON.stringify(rows).includes('not_pending')
  })

  expect(await world.event(event)).toMatchObject({ epoch: 2, attempts: 0, processed_at: null })
  expect(await world.query('select 1 from goodstanding.event_attempts where event_id = $1', [event])).toEqual(
    [],
  )
  expect((await world.read('acme')).body['seats']).toBe(2)
})
