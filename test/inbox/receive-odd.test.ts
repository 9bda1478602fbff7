// Odd bodies with a valid signature: whatever they are, they are stored, answered with 2xx and end in one state, or
// Stripe would deliver them for days and then disable the endpoint.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { anEvent } from '../harness/event.ts'
import { forgetLog, loggedLines, loggedText } from '../harness/log-capture.ts'
import { postDelivery } from '../harness/post.ts'
import { openWorld, type World } from '../harness/world.ts'

let world: World
beforeAll(async () => {
  let close = async () => {}
  world = await openWorld({ cleanup: (end) => (close = end) })
  return () => close()
})
beforeEach(async () => {
  await world.query('truncate goodstanding.billing_events, goodstanding.billing_audit cascade')
  forgetLog()
})

const odd = (over: Record<string, unknown>) => JSON.stringify(anEvent({ id: 'evt_odd', ...over }))
const customer = (rest: string) =>
  `{"id":"evt_odd","object":"event","type":"customer.updated","data":{"object":{"id":"cus_A","object":"customer"${rest}}}}`

const ODD: [string, string][] = [
  ['an escaped NUL', customer(String.raw`,"name":"a\u0000b"`)],
  ['a NUL in an id', odd({ data: { object: { id: 'cus_A\u0000', object: 'customer' } } })],
  ['a lone surrogate', customer(String.raw`,"name":"\ud800"`)],
  ['a lone surrogate in an id', odd({ data: { object: { id: 'cus_\ud800', object: 'customer' } } })],
  ['a number of 400 digits', customer(`,"balance":${'9'.repeat(400)}`)],
  ['an instant of 400 digits', `{"created":${'9'.repeat(400)},${customer('').slice(1)}`],
  ['an instant in the year 10000', odd({ created: 253_402_300_800 })],
  ['an instant in the year 275000', odd({ created: 8.61e12 })],
  ['an instant before our era', odd({ created: -62_200_000_000 })],
  ['an instant that no Date can hold', odd({ created: 1e300 })],
  ['an instant that is text of the year 10000', odd({ created: '+010000-01-01T00:00:00Z' })],
  ['an instant that is no text of one', odd({ created: '2026-13-45' })],
  ['10,000 levels of arrays', customer(`,"deep":${'['.repeat(10_000)}${']'.repeat(10_000)}`)],
  ['100,000 levels of objects', customer(`,"deep":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)],
  ['no data', '{"id":"evt_odd","object":"event","type":"customer.subscription.updated"}'],
  ['data that is a list', odd({ data: [] })],
  ['an object that is text', odd({ data: { object: 'cus_A' } })],
  [
    'null ids',
    odd({ type: 'customer.subscription.updated', data: { object: { id: null, customer: null } } }),
  ],
  ['empty ids', odd({ type: 'invoice.paid', data: { object: { id: '', customer: '' } } })],
  [
    'an id that is a list',
    odd({ type: 'invoice.paid', data: { object: { id: ['in_1'], customer: ['cus_A'] } } }),
  ],
  ['envelope fields of other kinds', odd({ livemode: 'no', api_version: 7, created: {}, account: [] })],
  ['an api version of 300 characters', odd({ api_version: 'x'.repeat(300) })],
  [
    'a payload of 2012',
    '{"id":"evt_odd","object":"event","type":"customer.subscription.updated","livemode":false,"created":1326853478,"data":{"object":{"object":"subscription","customer":"cus_00","status":"active","plan":{"id":"gold","object":"plan"},"quantity":1,"current_period_end":1329531878}}}',
  ],
  [
    'an upcoming invoice without an id',
    odd({ type: 'invoice.upcoming', data: { object: { object: 'invoice', customer: 'cus_A' } } }),
  ],
  [
    'a refund of an impossible time',
    odd({
      type: 'refund.created',
      data: { object: { id: 're_1', object: 'refund', created: 1e300, amount: 1e300 } },
    }),
  ],
  [
    'a thin event',
    '{"id":"evt_odd","object":"v2.core.event","type":"v1.customer.updated","created":"2026-11-30T10:00:00.000Z","livemode":false,"related_object":{"id":"cus_A","type":"customer","url":"/v1/customers/cus_A"}}',
  ],
  ['a thin event without an object', odd({ object: 'v2.core.event', related_object: null })],
  ['__proto__', `{"__proto__":{"type":"x"},"constructor":{"prototype":{}},${customer('').slice(1)}`],
  ['a key that comes twice', `{"id":"evt_first",${customer('').slice(1)}`],
]

test.each(ODD)(
  'a signed event with %s is stored as it came, answered 200 and ends in one state',
  async (_what, body) => {
    expect((await postDelivery(world.url, body)).status).toBe(200)
    await world.settle()

    const row = await world.event('evt_odd')
    expect(row['payload']).toBe(body)
    // An outcome, or waiting for a link by rule; never a failure of ours that is tried again.
    expect([row['processed_at'] ?? row['dead_letter_at'], row['reason']]).not.toEqual([
      null,
      'internal_error',
    ])
    expect(loggedLines('inbox.not_stored')).toEqual([])
  },
)

test.each([
  ['an empty object', '{}'],
  ['an array', '[1]'],
  ['null', 'null'],
  ['a number', '7'],
  ['a text', '"evt_1"'],
])(
  'a signed body that is %s is kept once, under its hash, and dead-lettered where people look',
  async (_what, body) => {
    expect((await postDelivery(world.url, body)).status).toBe(200)
    expect((await postDelivery(world.url, body)).status).toBe(200)
    await world.settle()

    expect(
      await world.query('select event_id, outcome, reason, payload from goodstanding.billing_events'),
    ).toEqual([
      {
        event_id: expect.stringMatching(/^sha256_[0-9a-f]{64}$/) as string,
        outcome: 'permanent',
        reason: 'unrecognized_stripe_payload',
        payload: body,
      },
    ])
  },
)

test.each([
  ['no type', null],
  ['an empty type', ''],
  ['a type with a line break', 'customer\nupdated'],
  ['a type of 256 characters', 'x'.repeat(256)],
])('an event with %s is dead-lettered, never ignored', async (_what, type) => {
  expect((await postDelivery(world.url, odd({ type }))).status).toBe(200)
  await world.settle()

  expect(await world.event('evt_odd')).toMatchObject({
    outcome: 'permanent',
    reason: 'unrecognized_stripe_payload',
  })
})

test.each([
  ['of 255 characters', `evt_${'x'.repeat(251)}`, true],
  ['of 256 characters', `evt_${'x'.repeat(252)}`, false],
  ['with a control character', 'evt_\u0007', false],
  ['with a line break', 'evt_1\n', false],
  ['that is empty', '', false],
  ['that is null', null, false],
  ['that is a number', 7, false],
])(
  'an event id %s is kept or replaced by the hash of the body, and its event goes on',
  async (_what, id, kept) => {
    expect((await postDelivery(world.url, odd({ id }))).status).toBe(200)
    await world.settle()

    const [row, ...others] = await world.query<{ event_id: string; reason: string }>(
      'select event_id, reason from goodstanding.billing_events',
    )
    expect([others, row?.event_id === id, row?.reason]).toEqual([[], kept, 'no_tenant'])
    expect(/^sha256_[0-9a-f]{64}$/.test(row?.event_id ?? '')).toBe(!kept)
  },
)

test('two events without an id are two rows', async () => {
  await postDelivery(world.url, odd({ id: null, created: 1 }))
  await postDelivery(world.url, odd({ id: null, created: 2 }))

  expect(await world.query('select 1 from goodstanding.billing_events')).toHaveLength(2)
})

test('types without bearing, another mode and another account are settled at once, without a worker', async () => {
  const jobs = () => world.query("select id from pgboss.job where name like 'billing.event.%' order by 1")
  const before = await jobs()
  const asked = world.sim.calls().length

  await postDelivery(world.url, odd({ id: 'evt_type', type: 'plan.created' }))
  await postDelivery(world.url, odd({ id: 'evt_mode', livemode: true }))
  await postDelivery(world.url, odd({ id: 'evt_account', account: 'acct_other' }))

  expect(
    await world.query('select event_id, outcome, reason, job_id from goodstanding.billing_events order by 1'),
  ).toEqual([
    { event_id: 'evt_account', outcome: 'ignored', reason: 'account_mismatch', job_id: null },
    { event_id: 'evt_mode', outcome: 'ignored', reason: 'livemode_mismatch', job_id: null },
    { event_id: 'evt_type', outcome: 'ignored', reason: 'event_type_ignored', job_id: null },
  ])
  expect(await jobs()).toEqual(before)
  const alarms = loggedLines('inbox.receive').filter(({ alert }) => alert !== undefined)
  expect(alarms.map(({ level, alert }) => [level, alert])).toEqual([
    ['error', 'livemode_mismatch'],
    ['error', 'account_mismatch'],
  ])
  // The later positive: an event of ours is read, and only that.
  const object = { id: 'sub_1', object: 'subscription', customer: 'cus_A', status: 'active' }
  await postDelivery(
    world.url,
    odd({ id: 'evt_ours', type: 'customer.subscription.updated', data: { object } }),
  )
  await world.settle()
  expect(
    world.sim
      .calls()
      .slice(asked)
      .map(({ path }) => path),
  ).toEqual(['/v1/customers/cus_A'])
  expect(loggedText()).not.toMatch(/cus_A|whsec_|v1=/)
})
