// An operator's way through a dead letter and a pause: seen in `status` and `dead list`, repaired by name and reason.
import { expect, test } from 'vitest'
import { cliOf, SIGNED } from '../harness/cli.ts'
import { anEvent } from '../harness/event.ts'
import { postDelivery } from '../harness/post.ts'
import { READ_TOKEN, until } from '../harness/service.ts'
import { openWorld, signUp, type World } from '../harness/world.ts'

const actions = ({ query }: World) =>
  query('select operator, reason, verb, target from goodstanding.operator_actions order by action_id')

// A price that the catalog does not know, for so long that it died.
const deadLetter = async (world: World) => {
  const { id: customer } = world.shop.customer({ metadata: { tenant_id: 'acme' } })
  world.shop.subscribe(customer, { items: [{ price: 'price_pro' }] })
  world.shop.subscribe(customer, { items: [{ price: 'price_pro' }] })
  const event = world.shop.events().findLast(({ type }) => type === 'customer.subscription.created')
  if (event === undefined) throw new Error('no event')
  await world.sim.delivery.post('default', event)
  await until('it is dead', async () => (await world.event(event.id))['dead_letter_at'] !== null)
  return { customer, id: event.id }
}

test('a dead letter is listed with what to do, requeued once, and listed again after a second death', async () => {
  const world = await openWorld()
  const { id } = await deadLetter(world)

  expect(await cliOf(world)('status')).toMatchObject({
    code: 3,
    said: expect.stringContaining('1 dead letters') as string,
  })
  expect((await cliOf(world)('dead', 'list')).said).toMatch(new RegExp(`${id}.*ambiguous_multi_subscription`))
  const shown = await cliOf(world)('events', 'show', id)
  expect(shown).toMatchObject({ code: 0, said: expect.stringContaining('is dead') as string })
  expect(shown.said).not.toMatch(/"object"|payload/)

  expect(await cliOf(world)('requeue', id, '--dry-run')).toMatchObject({ code: 0 })
  expect(await actions(world)).toEqual([])
  await world.stopWorker()
  const both = await Promise.all([
    cliOf(world)('requeue', id, ...SIGNED),
    cliOf(world)('requeue', id, ...SIGNED),
  ])
  expect(both.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([0, 6])
  expect(both.find(({ code }) => code === 6)?.problems).toContain('somebody was faster')
  await world.startWorker()
  await until('it died again', async () => {
    const row = await world.event(id)
    return row['dead_letter_at'] !== null && row['epoch'] === 2
  })

  expect(await actions(world)).toEqual([
    { operator: 'ada', reason: 'seen and understood', verb: 'requeue', target: `default ${id}` },
  ])
  const again = await cliOf(world)('events', 'show', id, '--json')
  const attempts = (JSON.parse(again.said) as { attempts: { epoch: number; outcome: string }[] }).attempts
  expect(attempts.map(({ epoch, outcome }) => [epoch, outcome])).toEqual([
    [1, 'dead'],
    [2, 'dead'],
  ])
})

test('a decision about one life of an event is not taken for the next', async () => {
  const world = await openWorld()
  const { id } = await deadLetter(world)
  await cliOf(world)('requeue', id, ...SIGNED)
  await until('it died again', async () => {
    const row = await world.event(id)
    return row['dead_letter_at'] !== null && row['epoch'] === 2
  })
  const requeue = async (epoch: number) =>
    (
      await fetch(`${world.url}/v1/operate/requeue`, {
        method: 'POST',
        headers: { authorization: `Bearer ${READ_TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify({ event: id, epoch, reason: 'as looked at' }),
      })
    ).status

  expect(await requeue(1)).toBe(409)
  expect(await requeue(2)).toBe(200)
})

test('a requeue after the cause is gone applies the event', async () => {
  const world = await openWorld()
  const { customer, id } = await deadLetter(world)
  await world.stopWorker()
  const [first] = world.shop.subscriptionsOf(customer)
  world.shop.cancel(first?.id ?? '')

  expect((await cliOf(world)('requeue', id, ...SIGNED)).code).toBe(0)
  await world.startWorker()
  await world.settle()

  expect(await world.event(id)).toMatchObject({ epoch: 2, dead_letter_at: null })
  expect((await world.read('acme')).body['plan']).toBe('pro')
  expect((await cliOf(world)('status')).said).toMatch(/^All is in order\./)
})

test('a dead letter that means nothing is closed, and its job with it', async () => {
  const world = await openWorld()
  await postDelivery(world.url, JSON.stringify(anEvent({ id: 'evt_odd', type: '' })))
  await until('it is dead', async () => (await world.event('evt_odd'))['dead_letter_at'] !== null)

  expect((await cliOf(world)('resolve', 'evt_odd', '--discard', ...SIGNED)).code).toBe(0)

  expect(await world.event('evt_odd')).toMatchObject({
    outcome: 'discarded_by_operator',
    dead_letter_at: null,
  })
  expect(await world.query("select id from pgboss.job where name = 'billing.dead'")).toEqual([])
  expect(await cliOf(world)('dead', 'list')).toMatchObject({ said: 'No dead letters.' })
  expect((await cliOf(world)('requeue', 'evt_odd', ...SIGNED)).code).toBe(6)
})

test.each([
  [['requeue', 'evt_none', ...SIGNED], 5],
  [['events', 'show', 'evt_none'], 5],
  [['requeue', 'evt_none'], 2],
  [['account', 'resume', 'nobody', ...SIGNED], 5],
  [['account', 'resume', 'default', ...SIGNED], 6],
])('%j ends with %s', async (argv, code) => {
  const world = await openWorld({ worker: false })

  expect((await cliOf(world)(...argv)).code).toBe(code)
})

test('an account that is paused by a person says so, applies nothing, and goes on when it is resumed', async () => {
  const world = await openWorld()
  expect((await cliOf(world)('account', 'pause', 'default', ...SIGNED)).code).toBe(0)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  await signUp(world)

  expect(await cliOf(world)('status')).toMatchObject({
    code: 3,
    said: expect.stringMatching(/default is paused[^]*paused_by_operator.*account resume default/) as string,
  })
  expect((await world.read('acme')).status).toBe(404)
  expect((await cliOf(world)('account', 'resume', 'default', ...SIGNED)).code).toBe(0)
  await world.settle()

  expect((await world.read('acme')).body['plan']).toBe('pro')
  expect((await actions(world)).map(({ verb }) => verb)).toEqual(['account pause', 'account resume'])
})

test('an event that could be worked and waits is behind; one that waits by rule is only deferred', async () => {
  const world = await openWorld({ worker: false })
  await world.query("insert into goodstanding.workers (worker, version) values ('somebody', '0')")
  await postDelivery(world.url, JSON.stringify(anEvent()))
  expect((await cliOf(world)('status')).said).toMatch(/^All is in order\./)
  await world.query("update goodstanding.billing_events set received_at = received_at - interval '6 minutes'")
  expect(await cliOf(world)('status')).toMatchObject({
    code: 3,
    said: expect.stringContaining('default is behind') as string,
  })

  await world.query("update goodstanding.billing_events set reason = 'customer_not_linked', attempts = 1")
  expect((await cliOf(world)('status')).said).toMatch(
    /^All is in order\.[^]*default +test +runs +0 +1 +1 +0 +1/,
  )
})
