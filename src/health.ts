// Is this process alive, and should it be sent requests? Liveness must depend on nothing: a database that is away is
// no reason to restart.
import { Hono } from 'hono'
import type { Context } from './context.ts'
import type { Database } from './postgres/pool.ts'
import { sqlState } from './postgres/failure.ts'
import { findShape } from './postgres/schema-queries.ts'
import { knownChanges, knownQueueVersion } from './postgres/schema.ts'

// Probes give up after a few seconds themselves.
const CHECK_MAX_MS = 2_000
// Several load balancers may probe at once; one look a second is enough.
const KEEP_MS = 1_000

export type Readiness =
  | { kind: 'ready' }
  | { kind: 'not_ready'; reason: 'draining' | 'schema_behind' | 'schema_ahead' | 'database_away' }

/** `/livez` and `/readyz`. */
export const healthRoutes = (parts: Pick<Context, 'draining'>, database: Database): Hono => {
  const check = cached(() => bounded(lookAt(database)))
  return new Hono()
    .get('/livez', () => answer(200, { status: 'ok' }))
    .get('/readyz', async () => {
      const readiness: Readiness = parts.draining()
        ? { kind: 'not_ready', reason: 'draining' }
        : await check()
      return readiness.kind === 'ready'
        ? answer(200, { status: 'ok' })
        : answer(503, { status: 'not_ready', reason: readiness.reason })
    })
}

const answer = (status: number, body: object) =>
  Response.json(body, { status, headers: { 'cache-control': 'no-store' } })

const NO_SUCH_TABLE = new Set(['42P01', '3F000'])

const lookAt = async (database: Database): Promise<Readiness> => {
  try {
    const { changes, queue_version: queueVersion } = await database.run(findShape)
    const known = knownChanges()
    const needed = knownQueueVersion()
    if (changes.some((name) => !known.includes(name)) || (queueVersion ?? 0) > needed)
      return notReady('schema_ahead')
    if (known.some((name) => !changes.includes(name)) || (queueVersion ?? 0) < needed)
      return notReady('schema_behind')
    return { kind: 'ready' }
  } catch (error) {
    return notReady(NO_SUCH_TABLE.has(sqlState(error) ?? '') ? 'schema_behind' : 'database_away')
  }
}

const notReady = (reason: Extract<Readiness, { kind: 'not_ready' }>['reason']): Readiness => ({
  kind: 'not_ready',
  reason,
})

const bounded = async (check: Promise<Readiness>): Promise<Readiness> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Readiness>((resolve) => {
    timer = setTimeout(() => resolve(notReady('database_away')), CHECK_MAX_MS)
  })
  try {
    return await Promise.race([check, late])
  } finally {
    clearTimeout(timer)
  }
}

/** One check at a time, and its answer for a second. */
const cached = (check: () => Promise<Readiness>): (() => Promise<Readiness>) => {
  let running: Promise<Readiness> | null = null
  let until = 0
  return () => {
    if (running === null || performance.now() >= until) {
      until = Number.POSITIVE_INFINITY
      running = check().finally(() => {
        until = performance.now() + KEEP_MS
      })
    }
    return running
  }
}
