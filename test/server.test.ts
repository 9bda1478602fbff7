// The process as its surroundings see it: alive, ready or not and why, what it serves, what it logs.
import type { Hono } from 'hono'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Context } from '../src/context.ts'
import { createLog } from '../src/log.ts'
import { openDatabase, type Database } from '../src/postgres/pool.ts'
import { createApp, type Serve } from '../src/server.ts'
import { createTestDatabase, type TestDatabase } from './harness/database.ts'
import { capturedLog, forgetLog, loggedLines } from './harness/log-capture.ts'

const log = createLog({ level: 'debug', destination: capturedLog })
let database: TestDatabase
let pool: Database
beforeAll(async () => {
  database = await createTestDatabase()
  pool = await open(database.url)
})
afterAll(async () => {
  await pool.end()
  await database.drop()
})

const open = (url: string) =>
  openDatabase({
    url,
    name: 'spec',
    size: 2,
    pooled: false,
    statementTimeoutMs: 5_000,
    lockTimeoutMs: 500,
    idleInTransactionTimeoutMs: 5_000,
    acquireTimeoutMs: 5_000,
  })

const contextOn = (api: Database, draining = () => false) =>
  ({
    log,
    api,
    ingest: api,
    draining,
    accounts: { named: () => null },
    config: { ackWaitMs: null, recoveryObjectiveMs: 300_000, drift: { maxRevocations: null } },
    tokens: { verify: () => ({ kind: 'unknown' }) },
    now: () => 0,
  }) as unknown as Context

const appOn = (api: Database, serve: Serve = 'both', draining = () => false) =>
  createApp(contextOn(api, draining), { serve })

const readiness = async (app: Hono) => {
  const response = await app.request('/readyz')
  return [response.status, ((await response.json()) as { reason?: string }).reason]
}

test('alive needs nothing, ready needs the database', async () => {
  const dropped = await createTestDatabase()
  const lost = await open(dropped.url)
  await dropped.drop()

  expect((await appOn(lost).request('/livez')).status).toBe(200)
  expect(await readiness(appOn(lost))).toEqual([503, 'database_away'])
  expect(await readiness(appOn(pool))).toEqual([200, undefined])
  await lost.end()
})

test('a database that does not answer is away after two seconds', async () => {
  const frozen = { run: () => new Promise(() => {}) } as unknown as Database
  const startedAt = performance.now()

  expect(await readiness(appOn(frozen))).toEqual([503, 'database_away'])
  expect(performance.now() - startedAt).toBeLessThan(2_500)
})

test('who drains is not ready, at once', async () => {
  let draining = false
  const app = appOn(pool, 'both', () => draining)
  expect(await readiness(app)).toEqual([200, undefined])

  draining = true
  expect(await readiness(app)).toEqual([503, 'draining'])
})

test('a schema that this release does not know is not ready', async () => {
  const change = (text: string) => database.query(text)
  await change("insert into goodstanding.schema_changes (name, run_on) values ('9999_future', now())")
  expect(await readiness(appOn(pool))).toEqual([503, 'schema_ahead'])
  await change("delete from goodstanding.schema_changes where name in ('9999_future', '0004_views')")
  expect(await readiness(appOn(pool))).toEqual([503, 'schema_behind'])
  await change("insert into goodstanding.schema_changes (name, run_on) values ('0004_views', now())")
  await change('update pgboss.version set version = version - 1')
  expect(await readiness(appOn(pool))).toEqual([503, 'schema_behind'])
  await change('update pgboss.version set version = version + 2')
  expect(await readiness(appOn(pool))).toEqual([503, 'schema_ahead'])
  await change('update pgboss.version set version = version - 1')
  expect(await readiness(appOn(pool))).toEqual([200, undefined])
})

test('many probes make one look a second', async () => {
  let looks = 0
  const counted: Database = {
    ...pool,
    run: (work) => {
      looks += 1
      return pool.run(work)
    },
  }
  const app = appOn(counted)

  await Promise.all(Array.from({ length: 20 }, () => readiness(app)))
  await readiness(app)
  expect(looks).toBe(1)
  await new Promise((resolve) => setTimeout(resolve, 1_050))
  await readiness(app)
  expect(looks).toBe(2)
})

test.each<[Serve, number, number]>([
  ['both', 404, 401],
  ['webhooks', 404, 404],
  ['api', 404, 401],
  ['metrics', 404, 404],
])('a process that serves %s answers only that', async (serve, _unused, apiStatus) => {
  const app = appOn(pool, serve)
  expect((await app.request('/livez')).status).toBe(200)
  expect((await app.request('/v1/tenants/x/entitlements')).status).toBe(apiStatus)
  const webhook = await app.request('/webhooks/stripe', { method: 'POST' })
  expect(((await webhook.json()) as { error?: string }).error).toBe(
    serve === 'both' || serve === 'webhooks' ? 'unknown_account' : undefined,
  )
})

test('an error inside is a problem without a word of it, and one log line', async () => {
  forgetLog()
  const broken = { run: () => Promise.reject(new Error('row (secret) of cus_1')) } as unknown as Database
  const app = createApp(
    {
      ...contextOn(broken),
      tokens: { verify: () => ({ kind: 'ok', name: 'x', scopes: ['read'] }) },
    },
    { serve: 'api' },
  )

  const response = await app.request('/v1/tenants/acme/entitlements?q=private', {
    headers: { authorization: 'Bearer x' },
  })

  const body = await response.text()
  expect([response.status, response.headers.get('content-type')]).toEqual([500, 'application/problem+json'])
  expect(body).not.toMatch(/secret|cus_1/)
  const errors = loggedLines('http.error')
  expect(errors).toHaveLength(1)
  expect(errors[0]).toMatchObject({ route: '/v1/tenants/:tenant/entitlements', err: { name: 'Error' } })
  expect(JSON.stringify([...errors, ...loggedLines('http.request')])).not.toMatch(/secret|cus_1|acme|private/)
})

test('an unknown path is logged without it', async () => {
  forgetLog()
  const response = await appOn(pool).request('/acme/secret')

  expect([response.status, response.headers.get('x-content-type-options')]).toEqual([404, 'nosniff'])
  expect(loggedLines('http.request')[0]).toMatchObject({ route: 'none', status: 404 })
})
