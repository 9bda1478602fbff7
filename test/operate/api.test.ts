// Operators' actions and the host's routes over HTTP: scopes, reasons, dry runs, denials on record, and an OpenAPI document
// that says what the routes do.
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { OPERATIONS } from '../../src/operate/operations.ts'
import { READ_TOKEN } from '../harness/service.ts'
import { openWorld, seatsOf, signUp, until, type World } from '../harness/world.ts'

const TOKENS = {
  reader: 'gs_reader-000000000000000000000000000000000',
  helper: 'gs_helper-00000000000000000000000000000000',
}

const api =
  ({ url }: World, token: string | null = READ_TOKEN) =>
  async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> }
  }

const openScoped = async () => {
  const world = await openWorld()
  const sha256 = (bearer: string) => createHash('sha256').update(bearer).digest('hex')
  const expires = '2100-01-01T00:00:00Z'
  writeFileSync(
    world.env['API_TOKENS_FILE'] ?? '',
    JSON.stringify({
      tokens: [
        {
          name: 'spec',
          sha256: sha256(READ_TOKEN),
          scopes: ['read', 'explain', 'operate', 'admin'],
          expires,
        },
        { name: 'reader', sha256: sha256(TOKENS.reader), scopes: ['read'], expires },
        { name: 'helper', sha256: sha256(TOKENS.helper), scopes: ['read', 'explain', 'operate'], expires },
      ],
    }),
  )
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  return world
}

test('the host asks for one feature, and is told whether it is allowed', async () => {
  const world = await openWorld()
  await signUp(world)
  await world.settle()
  const call = api(world)

  expect(await call('GET', '/v1/tenants/acme/entitlements/seats')).toMatchObject({
    status: 200,
    body: {
      tenant: 'acme',
      feature: 'seats',
      allowed: true,
      value: 2,
      source: 'stripe',
      revocations_held_until: null,
    },
  })
  expect(await call('GET', '/v1/tenants/acme/entitlements/rockets')).toMatchObject({
    status: 200,
    body: { feature: 'rockets', allowed: false, value: null },
  })
  expect((await call('GET', '/v1/tenants/nobody/entitlements/seats')).status).toBe(404)
  expect((await call('DELETE', '/v1/tenants/acme/entitlements/seats')).status).toBe(405)
})

test('the return from Checkout waits for the state, at most so long', async () => {
  const world = await openWorld()
  const { id, customer } = await signUp(world)
  await world.settle()
  world.shop.updateSubscription(id, { quantity: 6 })
  await world.sim.delivery.flush({ lose: 1 })
  const call = api(world)

  expect(await call('POST', '/v1/reconcile', { tenant: 'acme' })).toMatchObject({
    status: 200,
    body: { settled: true, entitlements: [{ tenant: 'acme', seats: 6 }] },
  })
  await world.stopWorker()
  expect(await call('POST', '/v1/reconcile', { customer, wait_seconds: 0.2 })).toMatchObject({
    status: 202,
    body: { settled: false },
  })
  expect((await call('POST', '/v1/reconcile', { tenant: 'nobody' })).status).toBe(404)
  expect((await call('POST', '/v1/reconcile', { tenant: 'acme', customer })).status).toBe(400)
  expect((await call('POST', '/v1/reconcile', { tenant: 'acme', wait_seconds: 60 })).status).toBe(400)
})

test('each scope may do what it says; denials are recorded by name, never by token', async () => {
  const world = await openScoped()
  await signUp(world)
  await world.settle()
  const [reader, helper, nobody] = [api(world, TOKENS.reader), api(world, TOKENS.helper), api(world, null)]
  const pause = { account: 'default', reason: 'a test' }

  expect((await reader('GET', '/v1/operate/status')).status).toBe(200)
  expect(await reader('GET', '/v1/operate/why?tenant=acme&feature=sso')).toMatchObject({
    status: 403,
    body: { code: 'scope_missing', detail: 'needs the scope explain' },
  })
  expect(await helper('GET', '/v1/operate/why?tenant=acme&feature=sso')).toMatchObject({
    status: 200,
    body: { data: { allowed: true }, found: false },
  })
  expect((await helper('POST', '/v1/operate/account-pause', pause)).status).toBe(403)
  expect((await nobody('POST', '/v1/operate/account-pause', pause)).status).toBe(401)
  expect((await api(world, 'gs_wrong')('POST', '/v1/operate/account-pause', pause)).status).toBe(401)

  await until(
    'denials are on record',
    async () => (await world.query('select 1 from goodstanding.api_denials')).length >= 4,
  )
  expect(
    await world.query(
      'select token, scope, why, sum(count)::int as count from goodstanding.api_denials group by 1, 2, 3 order by 1, 2, 3',
    ),
  ).toEqual([
    { token: '', scope: 'admin', why: 'token_missing', count: 1 },
    { token: '', scope: 'admin', why: 'token_unknown', count: 1 },
    { token: 'helper', scope: 'admin', why: 'scope_missing', count: 1 },
    { token: 'reader', scope: 'explain', why: 'scope_missing', count: 1 },
  ])
})

test('what acts needs a reason, is recorded under the token, and can be tried without being done', async () => {
  const world = await openWorld()
  const call = api(world)
  const grant = { tenant: 'acme', feature: 'seats', value: 3, permanent: true }

  expect(await call('POST', '/v1/operate/grant-add', grant)).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('reason') as string },
  })
  expect((await call('POST', '/v1/operate/grant-add', { ...grant, reason: 'x', dry_run: true })).status).toBe(
    200,
  )
  expect((await world.read('acme')).status).toBe(404)
  expect(await call('POST', '/v1/operate/grant-add', { ...grant, reason: 'goodwill' })).toMatchObject({
    status: 200,
    body: { data: { tenant_id: 'acme', value: 3, operator: 'token:spec' } },
  })
  expect(await seatsOf(world)).toBe(3)
  expect(await call('POST', '/v1/operate/grant-revoke', { grant: 99, reason: 'x' })).toMatchObject({
    status: 409,
    body: { code: 'conflict' },
  })
  expect((await call('POST', '/v1/operate/requeue', { event: 'evt_none', reason: 'x' })).status).toBe(404)
  expect((await call('GET', '/v1/operate/grant-add')).status).toBe(405)
  expect((await call('GET', '/v1/operate/events-list?state=late')).status).toBe(400)
  expect((await call('GET', '/v1/operate/events-list?nonsense=1')).status).toBe(400)
})

test('the OpenAPI document names every route with its scope, and every route is there', async () => {
  const world = await openWorld()
  const { status, body } = await api(world, null)('GET', '/openapi.json')
  const paths = body['paths'] as Record<string, Record<string, { description: string }>>

  expect([status, body['openapi']]).toEqual([200, '3.1.1'])
  expect(Object.keys(paths).filter((path) => path.startsWith('/v1/operate/'))).toHaveLength(
    Object.keys(OPERATIONS).length,
  )
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { description }] of Object.entries(methods)) {
      expect(`${path}: ${description}`).toMatch(/: Needs the scope `(read|explain|operate|admin)`/)
      const known = await api(world, null)(method.toUpperCase(), path.replaceAll(/[{}]/g, 'x'))
      expect([path, known.status]).toEqual([path, 401])
    }
  }
})
