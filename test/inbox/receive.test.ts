// What the webhook endpoint lets in: signature, content type, size, JSON. What is refused is never stored. What it
// makes of odd bodies that are signed: receive-odd.test.ts.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { anEvent } from '../harness/event.ts'
import { forgetLog, loggedLines, loggedText } from '../harness/log-capture.ts'
import { postBytes, postDelivery, postRaw } from '../harness/post.ts'
import { ACCOUNT, openWorld, type World } from '../harness/world.ts'
import { signedHeaders } from '../stripe-sim/sim.ts'

const OLD_SECRET = 'whsec_old000000000000000000000000'
const NEW_SECRET = ACCOUNT.webhookSecret
const now = () => Math.floor(Date.now() / 1_000)
const signatureOf = (body: string, secret = NEW_SECRET) =>
  signedHeaders(body, secret, now())['stripe-signature'] ?? ''
const v1Of = (body: string, secret?: string) => signatureOf(body, secret).split('v1=')[1] ?? ''

let world: World
beforeAll(async () => {
  let close = async () => {}
  const accounts = [{ ...ACCOUNT, webhookSecret: ` ${OLD_SECRET} ,\t${NEW_SECRET}\n` }]
  world = await openWorld({ worker: false, accounts, cleanup: (end) => (close = end) })
  return () => close()
})
beforeEach(async () => {
  await world.query('delete from goodstanding.billing_events')
})
const stored = () => world.query('select event_id, deliveries from goodstanding.billing_events')

const BODY = JSON.stringify(anEvent())
const good = v1Of(BODY)
const [old, wrong] = [v1Of(BODY, OLD_SECRET), v1Of(BODY, 'whsec_other')]
const t = now()
test.each<[string, number, string | null]>([
  ['by the new secret', 200, `t=${t},v1=${good}`],
  ['by the old secret', 200, `t=${t},v1=${old}`],
  ['by both', 200, `t=${t},v1=${old},v1=${good}`],
  ['after a wrong one', 200, `t=${t},v1=${wrong},v1=${good}`],
  ['before a wrong one', 200, `t=${t},v1=${good},v1=${wrong}`],
  ['between wrong ones', 200, `t=${t},v1=${wrong},v1=${old},v1=${wrong}`],
  ['before the stamp', 200, `v1=${good},t=${t}`],
  ['beside one that is no hex', 200, `t=${t},v1=zz-not-hex,v1=${good}`],
  ['beside one of a test scheme', 200, `t=${t},v1=${good},v0=${wrong}`],
  ['by a secret that is not ours', 400, `t=${t},v1=${wrong}`],
  ['by the secret with its white space', 400, `t=${t},v1=${v1Of(BODY, ` ${OLD_SECRET} `)}`],
  ['as v0 only', 400, `t=${t},v0=${good}`],
  ['cut short', 400, `t=${t},v1=${good.slice(0, 62)}`],
  ['under two stamps', 400, `t=${t},t=${t},v1=${good}`],
  ['under another stamp', 400, `t=${t - 1},v1=${good}`],
  ['without a stamp', 400, `v1=${good}`],
  ['nowhere', 400, `t=${t}`],
  ['by garbage', 400, 'garbage'],
  ['by nothing', 400, null],
])('a delivery signed %s is answered %i', async (_how, status, signature) => {
  expect((await postDelivery(world.url, BODY, { signature })).status).toBe(status)
  expect(await stored()).toEqual(status === 200 ? [{ event_id: 'evt_1', deliveries: 1 }] : [])
})

test('an empty signature header is refused', async () => {
  const headers = { 'content-type': 'application/json', 'stripe-signature': '' }
  expect(await postRaw(world.url, { ...headers, 'content-length': `${BODY.length}` }, [BODY])).toBe(400)
})

test.each([
  [-299, 200],
  [298, 200],
  [-302, 400],
  [302, 400],
])('a stamp %i s from now is answered %i', async (skew, status) => {
  expect((await postDelivery(world.url, BODY, { timestamp: now() + skew })).status).toBe(status)
})

test('a body that is altered by one byte, or by its end of line, is refused', async () => {
  for (const altered of [BODY.replace('cus_A', 'cus_B'), `${BODY}\n`, BODY.slice(1)])
    expect((await postDelivery(world.url, altered, { signature: signatureOf(BODY) })).status).toBe(400)
  expect(await stored()).toEqual([])
})

test('the bytes are stored as they were signed, whatever their formatting', async () => {
  const body = `{\n  "id": "evt_1", "object":"event",\t"type": "customer.updated",\r\n  "note": "caf\\u00e9 \\/ \u00e9 \\u0000",\n  "data": {"object": {"object": "customer", "id": "cus_A"}}\n}\n `

  await postDelivery(world.url, body)

  expect((await world.event('evt_1'))['payload']).toBe(body)
})

test.each([
  ['application/json', 200],
  ['application/json; charset=utf-8', 200],
  ['APPLICATION/JSON ;charset=UTF-8', 200],
  ['text/plain', 415],
  ['application/x-www-form-urlencoded', 415],
  ['application/vnd.api+json', 415],
  ['application/jsonx', 415],
  ['', 415],
])('the content type "%s" is answered %i', async (type, status) => {
  const headers = { 'content-type': type }

  // Bytes, because fetch gives text a type of its own where none is said.
  const { status: answered } = await postDelivery(world.url, new TextEncoder().encode(BODY), { headers })

  expect(answered).toBe(status)
})

test('a compressed body, an unknown account and another method are refused', async () => {
  expect((await postDelivery(world.url, BODY, { headers: { 'content-encoding': 'gzip' } })).status).toBe(415)
  expect((await postDelivery(world.url, BODY, { path: '/webhooks/stripe/nobody' })).status).toBe(404)
  expect((await fetch(`${world.url}/webhooks/stripe`)).status).toBe(404)
  expect(await stored()).toEqual([])
  expect((await postDelivery(world.url, BODY, { path: '/webhooks/stripe/default' })).status).toBe(200)
})

test('more than 1 MB is refused, announced or chunked, and never parsed', async () => {
  const large = JSON.stringify(anEvent({ pad: 'x'.repeat(1_048_576) }))
  const fits = JSON.stringify(anEvent({ pad: 'x'.repeat(1_040_000) }))
  const headers = (body: string) => ({
    'content-type': 'application/json',
    ...signedHeaders(body, NEW_SECRET),
  })
  const length = { 'content-length': String(large.length) }
  const halves = [large.slice(0, 600_000), large.slice(600_000)]

  expect(await postRaw(world.url, { ...headers(large), ...length }, [])).toBe(413)
  // The server may close before the client has sent all; then there is no answer to read.
  expect([413, 0]).toContain(
    await postRaw(world.url, { ...headers(large), 'transfer-encoding': 'chunked' }, halves),
  )
  expect(await stored()).toEqual([])
  expect(await postRaw(world.url, { ...headers(fits), 'transfer-encoding': 'chunked' }, [fits])).toBe(200)
})

const LARGE = JSON.stringify(anEvent({ pad: 'x'.repeat(1_100_000) }))
const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
test.each([
  ['shorter than the body', ['content-length: 20'], BODY],
  ['longer than the body', [`content-length: ${BODY.length + 20}`], BODY],
  ['beside a chunked body', ['content-length: 20', 'transfer-encoding: chunked'], chunked(LARGE)],
  ['after a chunked body', ['transfer-encoding: chunked', 'content-length: 20'], chunked(LARGE)],
  ['said twice', ['content-length: 20', `content-length: ${BODY.length}`], BODY],
  ['below nothing', ['content-length: -1'], BODY],
])('a length %s stores nothing and ends in no 5xx', async (_how, lengths, body) => {
  const signed = body === BODY ? BODY : LARGE
  const head = [
    'POST /webhooks/stripe HTTP/1.1',
    'host: x',
    'content-type: application/json',
    `stripe-signature: ${signatureOf(signed)}`,
    ...lengths,
  ]

  const answers = await postBytes(world.url, `${head.join('\r\n')}\r\n\r\n${body}`)

  expect(answers.filter((status) => status < 400 || status >= 500)).toEqual([])
  expect(await stored()).toEqual([])
  expect((await postDelivery(world.url, BODY)).status).toBe(200)
})

test('what is not JSON is refused with 400 and not stored, though it is signed', async () => {
  const invalidUtf8 = new Uint8Array([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])

  for (const body of ['not json', '{"id": "evt_1"', '', `${BODY}${BODY}`, '{"id":"evt\u0000"}', invalidUtf8])
    expect((await postDelivery(world.url, body)).status).toBe(400)

  expect(await stored()).toEqual([])
})

test('what is refused is logged without secret, signature, customer or body, and never as an error', async () => {
  forgetLog()
  const cut = `POST /webhooks/stripe HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 999\r\n`

  await postBytes(world.url, `${cut}stripe-signature: ${signatureOf(BODY)}\r\n\r\n${BODY}`)
  await postDelivery(world.url, BODY, { secret: 'whsec_other' })
  await postDelivery(world.url, `${BODY}x`)
  await postDelivery(world.url, BODY, { path: '/webhooks/stripe/nobody' })
  await postDelivery(world.url, BODY)

  expect(loggedLines('inbox.signature_invalid')).toHaveLength(1)
  expect(loggedLines('inbox.receive')).toHaveLength(1)
  expect(loggedText()).not.toMatch(/"level":"error"|whsec_|cus_A|v1=|[0-9a-f]{64}|stripe-signature/)
})
