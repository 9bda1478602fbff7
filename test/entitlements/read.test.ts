// The read API as callers meet it: what it answers, when its ETag changes, whom it refuses. No worker, no Stripe.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openApi, problemOf, TOKENS, type Api } from '../harness/api.ts'
import { forgetLog, loggedLines } from '../harness/log-capture.ts'

let api: Api
beforeAll(async () => {
  api = await openApi()
})
afterAll(() => api.close())
beforeEach(() => api.rows.setClock('2030-01-01T12:00:00Z'))

const subscribe = async (tenant: string, times: { from?: string; final?: string; recheck?: string }) => {
  await api.rows.addCustomer({ tenant, readAt: '2030-01-01T12:00:00Z' })
  await api.rows.query(
    "update goodstanding.tenants set as_of = '2030-01-01T12:00:00Z', revision = 7 where tenant_id = $1",
    [tenant],
  )
  for (const [feature, value] of [
    ['$plan', 'pro'],
    ['export', true],
    ['seats', 5],
  ] as const)
    await api.rows.addRow({ tenant, feature, value, ...times })
}

test('a tenant is answered with plan, features, seats and why', async () => {
  await subscribe('acme', { from: '2029-12-01T00:00:00Z', final: '2030-02-01T00:00:00Z' })

  const response = await api.ask('acme')

  expect(response.status).toBe(200)
  expect(response.headers.get('cache-control')).toBe('private, max-age=5, stale-if-error=86400')
  expect(response.headers.get('vary')).toBe('Authorization')
  expect(await response.json()).toEqual({
    tenant: 'acme',
    plan: 'pro',
    active: true,
    state: 'active',
    seats: 5,
    stale: false,
    as_of: '2030-01-01T12:00:00.000Z',
    revision: 7,
    revocations_held_until: null,
    features: Object.fromEntries(
      [
        ['export', true],
        ['seats', 5],
      ].map(([name, value]) => [
        name,
        {
          value,
          state: 'active',
          source: 'stripe',
          from: '2029-12-01T00:00:00.000Z',
          until: '2030-02-01T00:00:00.000Z',
          until_kind: 'final',
          because: [{ rule: 'active', itemId: 'si_acme' }],
        },
      ]),
    ),
  })
})

test('a tenant without a plan has the default one and no seats', async () => {
  await api.rows.addTenant('nobody')

  expect(await (await api.ask('nobody')).json()).toMatchObject({
    plan: 'free',
    active: false,
    state: 'unknown',
    seats: null,
    as_of: null,
    features: { projects: { value: 1, source: 'default' } },
  })
})

test('any characters that print may stand in a tenant id', async () => {
  await api.rows.addTenant('a/b ü%?#')

  expect(await (await api.ask('a/b ü%?#')).json()).toMatchObject({ tenant: 'a/b ü%?#' })
})

const etagAt = async (tenant: string, iso: string) => {
  await api.rows.setClock(iso)
  return (await api.ask(tenant)).headers.get('etag') ?? ''
}

test('the ETag changes exactly when time changes something, and with the revision', async () => {
  await subscribe('clockwork', {
    from: '2030-01-02T00:00:00Z',
    recheck: '2030-01-03T00:00:00Z',
    final: '2030-01-09T00:00:00Z',
  })

  const passing = [
    '2030-01-01T12:00:00Z',
    '2030-01-01T23:59:55Z',
    '2030-01-02T00:00:00Z',
    '2030-01-02T23:59:55Z',
    '2030-01-03T00:00:00Z',
    '2030-01-05T23:59:55Z',
    '2030-01-06T00:00:00Z',
    '2030-01-08T23:59:55Z',
    '2030-01-09T00:00:00Z',
  ]
  const tags = []
  for (const iso of passing) tags.push(await etagAt('clockwork', iso))

  const at = (iso: string) => `W/"7.${Date.parse(iso)}"`
  const catalog = at('2020-01-01T00:00:00Z')
  const [from, recheck, bound, final] = [
    '2030-01-02T00:00:00Z',
    '2030-01-03T00:00:00Z',
    '2030-01-06T00:00:00Z',
    '2030-01-09T00:00:00Z',
  ].map(at)
  expect(tags).toEqual([catalog, catalog, from, from, recheck, recheck, bound, bound, final])
  await api.rows.query("update goodstanding.tenants set revision = 8 where tenant_id = 'clockwork'")
  expect(await etagAt('clockwork', '2030-01-09T00:00:00Z')).toBe(final?.replace('7.', '8.'))
})

test('the ETag changes with overrides, the first read, a read while stale, and a pause', async () => {
  await api.rows.addTenant('by_hand')
  await api.rows.addOverride({
    tenant: 'by_hand',
    feature: 'x',
    effect: 'allow',
    value: true,
    from: '2030-01-02T00:00:00Z',
    until: '2030-01-03T00:00:00Z',
  })
  const hand = [
    await etagAt('by_hand', '2030-01-01T12:00:00Z'),
    await etagAt('by_hand', '2030-01-02T00:00:00Z'),
    await etagAt('by_hand', '2030-01-03T00:00:00Z'),
  ]
  expect(new Set(hand).size).toBe(3)

  await api.rows.addCustomer({ tenant: 'first', readAt: null })
  const before = await etagAt('first', '2030-01-03T00:00:00Z')
  await api.rows.addCustomer({ tenant: 'first', readAt: '2030-01-02T00:00:00Z' })
  expect(await etagAt('first', '2030-01-03T00:00:00Z')).not.toBe(before)

  await subscribe('reread', { recheck: '2030-01-02T00:00:00Z' })
  const stale = await etagAt('reread', '2030-01-03T12:00:00Z')
  await api.rows.addCustomer({ tenant: 'reread', readAt: '2030-01-03T00:00:00Z' })
  const again = await etagAt('reread', '2030-01-03T12:00:00Z')
  expect(again).not.toBe(stale)
  await api.rows.query("update goodstanding.accounts set hold = true where account = 'default'")
  const held = await etagAt('reread', '2030-01-03T12:00:05Z')
  expect(held).not.toBe(again)
  await api.rows.query("update goodstanding.accounts set hold = false where account = 'default'")
  expect(await etagAt('reread', '2030-01-03T12:00:10Z')).not.toBe(held)
})

test.each([
  ['the same', (tag: string) => tag],
  ['strong', (tag: string) => tag.slice(2)],
  ['one of several', (tag: string) => `"x", ${tag}`],
  ['any', () => '*'],
])('an ETag that the caller has (%s) is answered 304 without a body', async (_how, header) => {
  await api.rows.addTenant('cached')
  const etag = (await api.ask('cached')).headers.get('etag') ?? ''

  const response = await api.ask('cached', { 'if-none-match': header(etag) })

  expect([response.status, await response.text(), response.headers.get('etag')]).toEqual([304, '', etag])
  expect(response.headers.get('cache-control')).toContain('private')
  expect((await api.ask('cached', { 'if-none-match': 'W/"1.0"' })).status).toBe(200)
})

test('who is not known, expired or not allowed is refused, and told why', async () => {
  const withToken = (authorization: string) => api.ask('acme', { authorization })

  expect(await problemOf(await api.call('/v1/tenants/acme/entitlements'))).toEqual([401, 'token_missing'])
  expect(await problemOf(await withToken(`Basic ${TOKENS.read}`))).toEqual([401, 'token_missing'])
  expect(await problemOf(await withToken(`Bearer ${TOKENS.read}x`))).toEqual([401, 'token_unknown'])
  expect(await problemOf(await withToken(`Bearer ${TOKENS.old}`))).toEqual([401, 'token_expired'])
  expect(await problemOf(await withToken(`Bearer ${TOKENS.operate}`))).toEqual([403, 'scope_missing'])
  expect(
    await problemOf(await api.put('acme', { customer: 'cus_1' }, { authorization: `Bearer ${TOKENS.read}` })),
  ).toEqual([403, 'scope_missing'])
  expect((await withToken(`Bearer ${TOKENS.old}`)).headers.get('www-authenticate')).toMatch(
    /^Bearer realm="goodstanding", error="invalid_token"/,
  )
  expect((await withToken(`Bearer ${TOKENS.operate}`)).headers.get('www-authenticate')).toContain(
    'scope="read"',
  )
})

test('what is not there or not expected is a problem with a code', async () => {
  expect(await problemOf(await api.ask('who'))).toEqual([404, 'unknown_tenant'])
  expect(await problemOf(await api.ask('a\u0000b'))).toEqual([400, 'bad_request'])
  expect(await problemOf(await api.ask('x'.repeat(256)))).toEqual([400, 'bad_request'])
  expect(await problemOf(await api.ask('x'.repeat(255)))).toEqual([404, 'unknown_tenant'])
  expect(await problemOf(await api.call('/v1/nothing'))).toEqual([404, 'not_found'])
  const wrongMethod = await api.call('/v1/tenants/acme/entitlements', { method: 'DELETE' })
  expect(wrongMethod.headers.get('allow')).toBe('GET, HEAD')
  expect(await problemOf(wrongMethod)).toEqual([405, 'method_not_allowed'])
})

test('the log names the route, never the tenant or the token', async () => {
  forgetLog()
  await api.ask('acme')
  await api.put('acme', { customer: 'sub_secret' })

  const lines = loggedLines('http.request')
  expect(lines.map(({ method, route, status }) => [method, route, status])).toEqual([
    ['GET', '/v1/tenants/:tenant/entitlements', 200],
    ['PUT', '/v1/tenants/:tenant/customer', 400],
  ])
  expect(Object.keys(lines[0] ?? {}).toSorted()).toEqual([
    'level',
    'method',
    'ms',
    'msg',
    'route',
    'status',
    'time',
  ])
  expect(JSON.stringify(lines)).not.toMatch(/acme|gs_|secret/)
})
