// What the webhook endpoint answers, and what it stores. A valid signature over JSON always ends in 2xx.
import { expect, test } from 'vitest'
import { loggedLines } from '../harness/log-capture.ts'
import { anEvent } from '../harness/event.ts'
import { postDelivery, postRaw } from '../harness/post.ts'
import { ACCOUNT, openWorld } from '../harness/world.ts'
import { signedHeaders } from '../stripe-sim/sim.ts'

const now = () => Math.floor(Date.now() / 1_000)
const signatureOf = (body: string, secret = ACCOUNT.webhookSecret) =>
  signedHeaders(body, secret, now())['stripe-signature'] ?? ''
const v1Of = (body: string, secret?: string) => signatureOf(body, secret).split('v1=')[1] ?? ''

test('a signature is accepted by any secret and any v1, within 300 s both ways; nothing else is stored', async () => {
  const world = await openWorld({ worker: false, accounts: [ACCOUNT], env: {} })
  const body = JSON.stringify(anEvent())
  const good = v1Of(body)
  const other = v1Of(body, 'whsec_other')
  const t = now()
  const cases: [number, string | null][] = [
    [200, `t=${t},v1=${good}`],
    [200, `t=${t},v1=${other},v1=${good}`],
    [200, `t=${t},v1=${good},v1=${other}`],
    [200, `t=${t},v1=zz-not-hex,v1=${good}`],
    [400, `t=${t},v1=${other}`],
    [400, `t=${t},v0=${good}`],
    [400, `t=${t},t=${t},v1=${good}`],
    [400, `v1=${good}`],
    [400, `t=${t}`],
    [400, 'garbage'],
    [400, null],
  ]

  for (const [status, signature] of cases) {
    expect([signature, (await postDelivery(world.url, body, { signature })).status]).toEqual([
      signature,
      status,
    ])
  }
  for (const [status, skew] of [
    [200, -299],
    [200, 298],
    [400, -302],
    [400, 302],
  ] as const) {
    expect([skew, (await postDelivery(world.url, body, { timestamp: now() + skew })).status]).toEqual([
      skew,
      status,
    ])
  }
  expect(
    (await postDelivery(world.url, body.replace('cus_A', 'cus_B'), { signature: signatureOf(body) })).status,
  ).toBe(400)
  expect(await world.query('select event_id, deliveries from goodstanding.billing_events')).toEqual([
    { event_id: 'evt_1', deliveries: 6 },
  ])
})

test('the bytes are stored as they were signed, whatever their formatting', async () => {
  const world = await openWorld({ worker: false })
  const body = `{\n  "id": "evt_1", "object":"event",  "type": "customer.updated",\n  "note": "caf\\u00e9 \\/ \u00e9 \\u0000",\n  "data": {"object": {"object": "customer", "id": "cus_A"}}\n}\n`

  await postDelivery(world.url, body)

  expect((await world.event('evt_1'))['payload']).toBe(body)
})

test.each([
  ['application/json', 200],
  ['application/json; charset=utf-8', 200],
  ['APPLICATION/JSON', 200],
  ['text/plain', 415],
  ['application/x-www-form-urlencoded', 415],
  ['application/vnd.api+json', 415],
])('content type %s is answered with %i', async (type, status) => {
  const world = await openWorld({ worker: false })

  expect(
    (await postDelivery(world.url, JSON.stringify(anEvent()), { headers: { 'content-type': type } })).status,
  ).toBe(status)
})

test('a compressed body, an unknown account and another method are refused', async () => {
  const world = await openWorld({ worker: false })
  const body = JSON.stringify(anEvent())

  expect((await postDelivery(world.url, body, { headers: { 'content-encoding': 'gzip' } })).status).toBe(415)
  expect((await postDelivery(world.url, body, { path: '/webhooks/stripe/nobody' })).status).toBe(404)
  expect((await fetch(`${world.url}/webhooks/stripe`)).status).toBe(404)
  expect((await postDelivery(world.url, body, { path: '/webhooks/stripe/default' })).status).toBe(200)
})

test('more than 1 MB is refused, announced or chunked, and never parsed', async () => {
  const world = await openWorld({ worker: false })
  const large = JSON.stringify(anEvent({ pad: 'x'.repeat(1_048_576) }))
  const fits = JSON.stringify(anEvent({ pad: 'x'.repeat(1_040_000) }))
  const headers = (body: string) => ({
    'content-type': 'application/json',
    ...signedHeaders(body, ACCOUNT.webhookSecret, now()),
  })
  const length = { 'content-length': String(large.length) }
  const halves = [large.slice(0, 600_000), large.slice(600_000)]

  expect(await postRaw(world.url, { ...headers(large), ...length }, [])).toBe(413)
  // The server may close before the client has sent all; then there is no answer to read.
  expect([413, 0]).toContain(
    await postRaw(world.url, { ...headers(large), 'transfer-encoding': 'chunked' }, halves),
  )
  expect(await world.query('select 1 from goodstanding.billing_events')).toEqual([])
  expect(await postRaw(world.url, { ...headers(fits), 'transfer-encoding': 'chunked' }, [fits])).toBe(200)
})

test('what is not JSON is refused with 400 and not stored, though it is signed', async () => {
  const world = await openWorld({ worker: false })
  const invalidUtf8 = new Uint8Array([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])

  for (const body of ['not json', '{"id": "evt_1"', '', invalidUtf8]) {
    expect((await postDelivery(world.url, body)).status).toBe(400)
  }
  expect(await world.query('select 1 from goodstanding.billing_events')).toEqual([])
})

const ODD: [string, string][] = [
  [
    'an escaped NUL',
    '{"id":"evt_odd","object":"event","type":"customer.updated","data":{"object":{"id":"cus_A\\u0000","object":"customer","name":"a\\u0000b"}}}',
  ],
  [
    'a lone surrogate',
    '{"id":"evt_odd","object":"event","type":"customer.updated","data":{"object":{"id":"cus_A","object":"customer","name":"\\ud800"}}}',
  ],
  [
    'a number of 400 digits',
    `{"id":"evt_odd","object":"event","type":"invoice.paid","created":${'9'.repeat(400)},"data":{"object":{"id":"in_1","object":"invoice","customer":"cus_A","amount_due":${'9'.repeat(400)}}}}`,
  ],
  [
    'deep nesting',
    `{"id":"evt_odd","object":"event","type":"customer.updated","data":{"object":{"id":"cus_A","object":"customer","deep":${'['.repeat(5_000)}${']'.repeat(5_000)}}}}`,
  ],
  ['no data', '{"id":"evt_odd","object":"event","type":"customer.subscription.updated"}'],
  [
    'null ids',
    '{"id":"evt_odd","object":"event","type":"customer.subscription.updated","data":{"object":{"id":null,"customer":null}}}',
  ],
  [
    'a payload of 2012',
    '{"id":"evt_odd","object":"event","type":"customer.subscription.updated","livemode":false,"created":1326853478,"data":{"object":{"object":"subscription","customer":"cus_00","status":"active","plan":{"id":"gold","object":"plan"},"quantity":1,"current_period_end":1329531878}}}',
  ],
  [
    'an upcoming invoice without an id',
    '{"id":"evt_odd","object":"event","type":"invoice.upcoming","data":{"object":{"object":"invoice","customer":"cus_A"}}}',
  ],
  [
    'a thin event',
    '{"id":"evt_odd","object":"v2.core.event","type":"v1.customer.updated","created":"2026-11-30T10:00:00.000Z","livemode":false,"related_object":{"id":"cus_A","type":"customer","url":"/v1/customers/cus_A"}}',
  ],
  [
    '__proto__',
    '{"id":"evt_odd","object":"event","type":"customer.updated","__proto__":{"x":1},"data":{"object":{"id":"cus_A","object":"customer"}}}',
  ],
]

test.each(ODD)(
  'a signed event with %s is stored, answered 200 and ends in one state',
  async (_what, body) => {
    const world = await openWorld()

    expect((await postDelivery(world.url, body)).status).toBe(200)
    await world.settle()

    const row = await world.event('evt_odd')
    expect((row['processed_at'] === null) !== (row['dead_letter_at'] === null)).toBe(true)
  },
)

test.each([
  ['an empty object', '{}'],
  ['an array', '[1]'],
  ['an id of 256 characters', JSON.stringify(anEvent({ id: `evt_${'x'.repeat(252)}` }))],
  ['an id with a control character', JSON.stringify(anEvent({ id: 'evt_\u0007' }))],
])(
  'a signed body with %s is kept under its hash and dead-lettered where people look',
  async (_what, body) => {
    const world = await openWorld()

    expect((await postDelivery(world.url, body)).status).toBe(200)
    expect((await postDelivery(world.url, body)).status).toBe(200)
    await world.settle()

    const rows = await world.query<Record<string, unknown>>(
      'select event_id, reason, payload from goodstanding.billing_events',
    )
    expect(rows).toEqual([
      { event_id: expect.stringMatching(/^sha256_[0-9a-f]{64}$/), reason: expect.any(String), payload: body },
    ])
  },
)

test('types without bearing, another mode and another account are settled at once, without a worker', async () => {
  const world = await openWorld({ worker: false })

  await postDelivery(world.url, JSON.stringify(anEvent({ id: 'evt_type', type: 'plan.created' })))
  await postDelivery(world.url, JSON.stringify(anEvent({ id: 'evt_mode', livemode: true })))
  await postDelivery(world.url, JSON.stringify(anEvent({ id: 'evt_account', account: 'acct_other' })))

  expect(
    await world.query('select event_id, outcome, reason, job_id from goodstanding.billing_events order by 1'),
  ).toEqual([
    { event_id: 'evt_account', outcome: 'ignored', reason: 'account_mismatch', job_id: null },
    { event_id: 'evt_mode', outcome: 'ignored', reason: 'livemode_mismatch', job_id: null },
    { event_id: 'evt_type', outcome: 'ignored', reason: 'event_type_ignored', job_id: null },
  ])
  expect(await world.query("select 1 from pgboss.job where name like 'billing.event.%'")).toEqual([])
  const alerts = loggedLines('inbox.receive')
    .map(({ alert }) => alert)
    .filter((alert) => alert !== undefined)
  expect(alerts).toEqual(['livemode_mismatch', 'account_mismatch'])
})
