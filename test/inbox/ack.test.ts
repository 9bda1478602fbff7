// Acknowledge after effect: what Stripe is told, in both settings, and that being received and being processed stay two
// facts.
import { expect, test } from 'vitest'
import { anEvent } from '../harness/event.ts'
import { postDelivery } from '../harness/post.ts'
import { openWorld, until, type World } from '../harness/world.ts'

const APPLIED = { WEBHOOK_ACK: 'applied', WEBHOOK_ACK_WAIT_MS: '4000' }
const IMPATIENT = { ...APPLIED, WEBHOOK_ACK_WAIT_MS: '500' }

type Told = { status: number; effect?: string; result?: string }
const post = async (world: World, event: object): Promise<Told> => {
  const { status, body } = await postDelivery(world.url, JSON.stringify(event))
  return { ...body, status }
}
const created = (world: World, type: string) => {
  const event = world.shop.events().findLast((each) => each.type === type)
  if (event === undefined) throw new Error(`no ${type}`)
  return event
}
const linkedSale = (world: World) => {
  const { id } = world.shop.customer({ metadata: { tenant_id: 'acme' } })
  world.shop.subscribe(id, { items: [{ price: 'price_pro' }] })
  return created(world, 'customer.subscription.created')
}
const attempts = async ({ query }: World, eventId: string) =>
  query('select outcome from goodstanding.event_attempts where event_id = $1 order by attempt_id', [eventId])

// The write of a subscription fails until this is taken away.
const breakWrites = ({ query }: World) =>
  query(`create function goodstanding.boom() returns trigger language plpgsql as $$ begin raise 'boom'; end $$;
    create trigger boom before insert on goodstanding.subscriptions for each row execute function goodstanding.boom()`)
const mendWrites = ({ query }: World) => query('drop function goodstanding.boom() cascade')

test('the answer comes after the effect, and the row was stamped meanwhile', async () => {
  const world = await openWorld({ env: APPLIED, worker: false })
  const event = linkedSale(world)
  const answer = post(world, event)
  await until(
    'it is stored',
    async () =>
      (await world.query('select 1 from goodstanding.billing_events where ack_wait_until is not null'))
        .length === 1,
  )
  await world.startWorker()

  expect(await answer).toMatchObject({ status: 200, result: 'stored', effect: 'settled' })
  expect((await world.read('acme')).body['plan']).toBe('pro')
  expect(await world.event(event.id)).toMatchObject({ ack_wait_until: null })
  expect(await post(world, event)).toMatchObject({ status: 200, result: 'duplicate', effect: 'settled' })
  expect(await attempts(world, event.id)).toHaveLength(1)
})

test('types that end as ignored, and the dead, are answered 200: Stripe can do no more', async () => {
  const world = await openWorld({ env: APPLIED })

  expect(await post(world, anEvent({ id: 'evt_ignored', type: 'payout.paid' }))).toMatchObject({
    status: 200,
    result: 'ignored',
  })
  expect(await post(world, anEvent({ id: 'evt_odd', type: '' }))).toMatchObject({
    status: 200,
    effect: 'settled',
  })
  expect((await world.event('evt_odd'))['dead_letter_at']).not.toBeNull()
})

test('a failed attempt is answered 500; a redelivery makes it due now, once in each back-off', async () => {
  const world = await openWorld({ env: APPLIED })
  await breakWrites(world)
  const event = linkedSale(world)
  expect(await post(world, event)).toMatchObject({ status: 500, effect: 'failed' })
  expect(await post(world, event)).toMatchObject({ status: 500, result: 'duplicate', effect: 'failed' })
  expect(await attempts(world, event.id)).toEqual([{ outcome: 'retry' }, { outcome: 'retry' }])
  await mendWrites(world)

  expect(await post(world, event)).toMatchObject({ status: 200, effect: 'settled' })
  expect((await world.read('acme')).body['plan']).toBe('pro')
  expect(await world.event(event.id)).toMatchObject({ attempts: 3, deliveries: 3 })
})

test('what waits by rule is answered 503 and is never made due by a redelivery', async () => {
  const world = await openWorld({ env: APPLIED })
  const { id } = world.shop.customer()
  world.shop.subscribe(id, { items: [{ price: 'price_pro' }] })
  const event = created(world, 'customer.subscription.created')

  expect(await post(world, event)).toMatchObject({ status: 503, effect: 'waiting' })
  expect(await post(world, event)).toMatchObject({ status: 503, result: 'duplicate', effect: 'waiting' })
  expect(await attempts(world, event.id)).toEqual([{ outcome: 'deferred' }])
  expect(await world.event(event.id)).toMatchObject({ reason: 'customer_not_linked', deliveries: 2 })
})

test('a Stripe that is away is waited for, not counted: 503', async () => {
  const world = await openWorld({ env: APPLIED })
  const event = linkedSale(world)
  world.sim.faults.next({ path: /subscriptions/, times: 5, fault: { status: 503 } })

  expect(await post(world, event)).toMatchObject({ status: 503, effect: 'waiting' })
  expect(await world.event(event.id)).toMatchObject({ attempts: 0, reason: 'stripe_unavailable' })
})

test('without a worker the wait is bounded, and what was received is not lost', async () => {
  const world = await openWorld({ env: IMPATIENT, worker: false })
  const event = linkedSale(world)

  expect(await post(world, event)).toMatchObject({ status: 503, result: 'stored', effect: 'waiting' })
  expect(await post(world, event)).toMatchObject({ status: 503, result: 'duplicate' })
  await world.startWorker()
  await world.settle()
  expect((await world.read('acme')).body['plan']).toBe('pro')
})

test('a delivery that finds another one waiting is told so at once', async () => {
  const world = await openWorld({ env: APPLIED, worker: false })
  const event = linkedSale(world)
  const first = post(world, event)
  await until(
    'it is stored',
    async () => (await world.query('select 1 from goodstanding.billing_events')).length === 1,
  )

  expect(await post(world, event)).toMatchObject({ status: 409, effect: 'awaited' })
  await world.startWorker()
  expect(await first).toMatchObject({ status: 200, effect: 'settled' })
})

test('nobody holds a connection while they wait', async () => {
  const world = await openWorld({ env: APPLIED, worker: false })
  const sales = Array.from({ length: 12 }, (_, index) => {
    world.shop.customer({ metadata: { tenant_id: `t${index}` } })
    return created(world, 'customer.created')
  })
  const answers = sales.map((event) => post(world, event))
  await until(
    'all are stored',
    async () => (await world.query('select 1 from goodstanding.billing_events')).length === answers.length,
  )
  expect(world.runtime.context.ingest.load()).toMatchObject({ waiting: 0 })
  expect((await world.read('t1')).status).toBe(404)
  await world.startWorker()

  expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([200]))
})
