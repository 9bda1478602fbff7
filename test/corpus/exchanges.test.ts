// Conversations that nobody recorded, held with the double: ids are carried over, what is there before is made, and
// what the double cannot do is told apart from what it does otherwise.
import { expect, test } from 'vitest'
import { conversationsIn, replay, type Exchange } from './exchanges.ts'
import { fieldsIn } from './read.ts'
import { compareShapes } from './shapes.ts'
import { exchangesTable, incomparableTable } from './tables.ts'

const CUSTOMER = 'cus_Rec0rded000000'
const SUBSCRIPTION = 'sub_1Rec0rded000000000000'

const anExchange = (given: Partial<Exchange>): Exchange => ({
  file: 'talk/01.json',
  version: '2026-03-25.dahlia',
  method: 'POST',
  path: '/v1/customers',
  endpoint: `${given.method ?? 'POST'} ${given.path ?? '/v1/customers'}`,
  query: '',
  form: '',
  account: null,
  status: 200,
  body: { id: CUSTOMER, object: 'customer' },
  at: Date.UTC(2026, 2, 26),
  ...given,
})

const subscribe = anExchange({
  path: '/v1/subscriptions',
  form: `customer=${CUSTOMER}&items[0][price]=gold&items[0][quantity]=4`,
  body: { id: SUBSCRIPTION, object: 'subscription', customer: CUSTOMER, status: 'active' },
})

test.each([
  ['alike', { a: 1, b: [{ c: 'x' }] }, { a: 2, b: [{ c: 'y' }, { c: 'z' }] }, []],
  ['missing', { object: 'price', a: 1 }, { object: 'price' }, ['missing price:a']],
  ['extra', { object: 'price' }, { object: 'price', a: { b: 1 } }, ['extra price:a']],
  ['of other type', { a: 'x' }, { a: { id: 'x' } }, ['type answer:a']],
  ['of another state', { status: 'open' }, { status: 'paid' }, ['state answer:status open as paid']],
  ['null', { a: null }, { a: 1 }, ['null answer:a']],
  [
    'inside',
    { data: [{ object: 'plan', a: { b: 1 } }] },
    { data: [{ object: 'plan', a: {} }] },
    ['missing plan:a.b'],
  ],
  ['unknown in an empty list', { a: [] }, { a: [1] }, []],
  ['free', { metadata: { x: '1' } }, { metadata: {} }, []],
])('shapes that are %s', (_what, recorded, double, expected) => {
  expect(compareShapes({ recorded, double }).map(({ kind, at }) => `${kind} ${at}`)).toEqual(expected)
})

// Nobody is subscribed who cannot pay.
const PAYING = 'payment_method=pm_card_visa&invoice_settings[default_payment_method]=pm_card_visa'

test('a conversation goes on with the ids of the double, and the price that it takes for granted is there', async () => {
  const path = `/v1/subscriptions/${SUBSCRIPTION}`
  const retrieve = anExchange({ method: 'GET', path, body: { ...fieldsIn(subscribe.body), status: 7 } })

  const replayed = await replay([anExchange({ form: PAYING }), subscribe, retrieve])

  const differences = replayed.map(({ outcome }) =>
    outcome.kind === 'differs' ? outcome.differences.filter(({ kind }) => kind !== 'extra') : outcome,
  )
  expect(differences).toEqual([
    [],
    [],
    [{ kind: 'type', at: 'subscription:status', detail: 'recorded number, double string' }],
  ])
})

test('an expansion that the double refuses is missing, and the rest is compared', async () => {
  const [replayed] = await replay([anExchange({ form: 'expand[0]=horoscope' })])

  expect(replayed?.outcome).toMatchObject({ kind: 'differs' })
  expect(exchangesTable(replayed ? [replayed] : [])).toContain('missing: `customers expand horoscope`')
})

test('a GET that was recorded with a body is asked by its query', async () => {
  const listed = { object: 'list', data: [], has_more: false, url: '/v1/customers' }
  const list = anExchange({ method: 'GET', form: 'email=nobody%40example.com', body: listed })

  const replayed = await replay([anExchange({ form: 'email=a%40example.com' }), list])

  expect(replayed[1]?.outcome).toEqual({ kind: 'equal', nulls: [] })
})

test('another status is a difference', async () => {
  const refused = anExchange({ status: 402, body: { error: { message: 'Declined.' } } })

  const replayed = await replay([refused])

  expect(exchangesTable(replayed)).toContain('status: `POST /v1/customers 402 as 200`')
})

test('what the double does not have, and what follows from it, is not comparable', async () => {
  const made = { id: 'horo_1Rec0rded00000000', object: 'horoscope' }
  const unheard = anExchange({ path: '/v1/horoscopes', body: made })
  const follows = anExchange({ method: 'GET', path: `/v1/charges/${made.id}`, body: made })
  const before = anExchange({ method: 'GET', path: '/v1/charges/ch_3Bef0re00000000', body: made })

  const told = incomparableTable(await replay([unheard, follows, before]))

  expect(told).toContain('POST /v1/horoscopes: the double has no such endpoint')
  expect(told).toContain('names a horo_ that the double did not make')
  expect(told).toContain('names a ch_ from before the recording')
})

test('older exchanges set the stage and are not compared', async () => {
  const replayed = await replay([anExchange({ version: '2020-08-27' }), subscribe])

  expect(replayed.map(({ endpoint }) => endpoint)).toEqual(['POST /v1/subscriptions'])
})

test('the exchanges of one folder are one conversation; events are none', () => {
  const json = { request: { method: 'GET', path: '/v1/prices' }, response: { status: 200, body: {} } }
  const of = (file: string, version: string, kind = 'http') => ({ file, version, kind, json })

  const conversations = conversationsIn([
    of('a/1.json', '2020-08-27'),
    of('a/2.json', '2025-10-29.clover'),
    of('b/1.json', '2020-08-27'),
    of('c/1.json', '2026-03-25.dahlia', 'event'),
  ])

  expect(conversations.map((each) => each.map(({ file }) => file))).toEqual([['a/1.json', 'a/2.json']])
})
