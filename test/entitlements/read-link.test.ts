// `PUT /v1/tenants/:tenant/customer`: a link is made once, never contradicts another, and is refused where it is not
// what is expected.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openApi, problemOf, type Api } from '../harness/api.ts'

let api: Api
beforeAll(async () => {
  api = await openApi()
})
afterAll(() => api.close())

test('a link by API is made once, and never contradicts another', async () => {
  const first = await api.put('linked', { customer: 'cus_linked' })
  expect([first.status, await first.json()]).toEqual([
    200,
    { tenant: 'linked', account: 'default', customer: 'cus_linked', result: 'linked' },
  ])
  expect(
    await (await api.put('linked', { account: 'default', customer: 'cus_linked' })).json(),
  ).toMatchObject({
    result: 'unchanged',
  })

  expect(await problemOf(await api.put('linked', { customer: 'cus_other' }))).toEqual([
    409,
    'ambiguous_customer_linkage',
  ])
  expect(await problemOf(await api.put('other', { customer: 'cus_linked' }))).toEqual([
    409,
    'ambiguous_customer_linkage',
  ])
  expect(await problemOf(await api.put('linked', { account: 'eu', customer: 'cus_linked' }))).toEqual([
    404,
    'unknown_account',
  ])
  const [row] = await api.rows.query(
    'select tenant_id, linked_by from goodstanding.customers where customer_id = $1',
    ['cus_linked'],
  )
  expect(row).toEqual({ tenant_id: 'linked', linked_by: 'api' })
})

test('of two customers linked to one tenant at once, one is refused', async () => {
  const answers = await Promise.all(
    ['cus_a', 'cus_b', 'cus_c'].map((customer) => api.put('race', { customer })),
  )

  expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409', '409'])
})

test('a link that another one overtakes at the last moment is refused', async () => {
  await api.rows.query('begin')
  await api.rows.addCustomer({ tenant: 'overtaken', customer: 'cus_faster' })

  const slower = api.put('overtaken', { customer: 'cus_slower' })
  await api.waitForLock()
  await api.rows.query('commit')

  expect(await problemOf(await slower)).toEqual([409, 'ambiguous_customer_linkage'])
})

test('a link whose customer is busy may be tried again', async () => {
  await api.rows.query('begin')
  await api.rows.query("select pg_advisory_xact_lock(hashtextextended('default:cus_busy', 7031964))")

  const busy = await api.put('busy', { customer: 'cus_busy' })

  await api.rows.query('rollback')
  expect(busy.headers.get('retry-after')).toBe('5')
  expect(await problemOf(busy)).toEqual([503, 'unavailable'])
  expect((await api.put('busy', { customer: 'cus_busy' })).status).toBe(200)
})

test.each<[string, unknown, number, Record<string, string>?]>([
  ['not JSON', '{', 400],
  ['no body', '', 400],
  ['no customer', {}, 400],
  ['another kind of id', { customer: 'sub_1' }, 400],
  ['an id with a blank', { customer: 'cus_a b' }, 400],
  ['an unknown field', { customer: 'cus_1', email: 'ann@example.com' }, 400],
  ['another type', { customer: 'cus_1' }, 415, { 'content-type': 'text/plain' }],
  ['too large a body', { customer: `cus_${'x'.repeat(17_000)}` }, 413],
])('a link with %s is refused', async (_what, body, status, headers = {}) => {
  const [got] = await problemOf(await api.put('refused', body, headers))
  expect(got).toBe(status)
  expect(await api.rows.query("select 1 from goodstanding.tenants where tenant_id = 'refused'")).toEqual([])
})
