// The API over a database of its own, without a worker or Stripe: for specs of what callers see.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Context } from '../../src/context.ts'
import { createLog } from '../../src/log.ts'
import { openDatabase } from '../../src/postgres/pool.ts'
import { startQueue } from '../../src/postgres/queue.ts'
import { createApp } from '../../src/server.ts'
import { createTokenCheck } from '../../src/tokens.ts'
import { createTestDatabase } from './database.ts'
import { capturedLog } from './log-capture.ts'
import { openRows } from './rows.ts'

/** Tokens by what they may do; `old` has expired. */
export const TOKENS = {
  read: 'gs_read-token-0000000000000000000000000000000',
  operate: 'gs_operate-token-000000000000000000000000000',
  old: 'gs_old-token-00000000000000000000000000000000',
}

export const openApi = async () => {
  const database = await createTestDatabase()
  const rows = await openRows(database.url)
  await rows.addCatalog()
  await rows.addAccount('default')
  const queue = await startQueue({ url: database.url, supervise: false, onError: () => {} })
  await queue.prepare(['default'])
  const api = await openDatabase({
    url: database.url,
    name: 'spec',
    size: 4,
    pooled: false,
    statementTimeoutMs: 5_000,
    lockTimeoutMs: 500,
    idleInTransactionTimeoutMs: 5_000,
    acquireTimeoutMs: 2_000,
  })
  const folder = mkdtempSync(join(tmpdir(), 'goodstanding-api-'))
  const ctx = {
    log: createLog({ level: 'debug', destination: capturedLog }),
    api,
    queue,
    accounts: { all: [{ name: 'default' }], named: (name: string) => (name === 'default' ? { name } : null) },
    config: { recoveryObjectiveMs: 300_000, drift: { maxRevocations: null } },
    tokens: createTokenCheck(writeTokens(folder), () => Date.now()),
    draining: () => false,
  } as unknown as Context
  const app = createApp(ctx, { serve: 'api' })
  const call = async (path: string, init: RequestInit = {}): Promise<Response> => app.request(path, init)
  return {
    rows,
    call,
    /** `GET` of a tenant's entitlements by one who may read. */
    ask: (tenant: string, headers: Record<string, string> = {}) =>
      call(`/v1/tenants/${encodeURIComponent(tenant)}/entitlements`, {
        headers: { authorization: `Bearer ${TOKENS.read}`, ...headers },
      }),
    /** `PUT` of a tenant's customer by one who may operate. */
    put: (tenant: string, body: unknown, headers: Record<string, string> = {}) =>
      call(`/v1/tenants/${encodeURIComponent(tenant)}/customer`, {
        method: 'PUT',
        headers: {
          authorization: `Bearer ${TOKENS.operate}`,
          'content-type': 'application/json',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    /** Until a statement of the API waits for somebody's lock. */
    waitForLock: async () => {
      const waiting = `select 1 from pg_stat_activity
        where datname = current_database() and application_name = 'spec' and wait_event_type = 'Lock'`
      while ((await database.query(waiting)).length === 0) await sleep(10)
    },
    close: async () => {
      await api.end()
      await queue.stop()
      await rows.close()
      await database.drop()
      rmSync(folder, { recursive: true })
    },
  }
}

export type Api = Awaited<ReturnType<typeof openApi>>

const writeTokens = (folder: string): string => {
  const entry = (name: string, bearer: string, scopes: string[], expires = '2100-01-01T00:00:00Z') => ({
    name,
    sha256: createHash('sha256').update(bearer).digest('hex'),
    scopes,
    expires,
  })
  const tokens = [
    entry('r', TOKENS.read, ['read']),
    entry('o', TOKENS.operate, ['operate']),
    entry('x', TOKENS.old, ['read'], '2020-01-01T00:00:00Z'),
  ]
  const file = join(folder, 'tokens.json')
  writeFileSync(file, JSON.stringify({ tokens }))
  return file
}

/** Status and code of an answer that must be a well-formed problem. */
export const problemOf = async (response: Response) => {
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  const body = (await response.json()) as { code: string; status: number; type: string; title: string }
  expect(body).toMatchObject({
    status: response.status,
    type: `urn:goodstanding:problem:${body.code}`,
    title: expect.any(String) as string,
  })
  return [response.status, body.code]
}
