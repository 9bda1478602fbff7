// The shared limiter of Stripe calls: one row per account and endpoint, spent on connections of its own, never inside
// a worker's transaction. Stripe limits each endpoint of an account by itself (https://docs.stripe.com/rate-limits).
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../postgres/pool.ts'
import { SECOND_MS } from '../time.ts'
import { readStripeFailure } from './failure.ts'
import { ensureBudget, reserveCall, slowEndpoint } from './queries.ts'

/** The endpoints that we call, as Stripe counts them. */
export type Endpoint =
  | 'account'
  | 'customers'
  | 'subscriptions'
  | 'subscription_items'
  | 'invoices'
  | 'charges'
  | 'invoice_payments'
  | 'test_clocks'
  | 'events'

/** The budget is spent: nothing was asked. `retryAfterMs` is a guess at when it is worth trying. */
export class BudgetSpent extends Error {
  readonly retryAfterMs = SECOND_MS
  readonly endpoint: Endpoint
  constructor(endpoint: Endpoint) {
    super(`no Stripe call to ${endpoint} may start in time`)
    this.name = 'BudgetSpent'
    this.endpoint = endpoint
  }
}

export type Budget = {
  /** Waits for a free slot (it counts within the deadline), then calls. 429 and 403 are remembered for all workers. */
  call: <T>(account: string, endpoint: Endpoint, deadlineAt: number, ask: () => Promise<T>) => Promise<T>
}

// A 429 without Retry-After says "too fast", not "stop".
const DEFAULT_BLOCK_MS = SECOND_MS
// A missing permission does not come back by itself within a minute.
const PERMISSION_BLOCK_MS = 60 * SECOND_MS

/** `now` is the process's clock: it measures the wait, nothing else. `measure` gets every call that was made. */
export const openBudget = (
  database: Database,
  requestsPerSecond: number,
  now: () => number,
  measure: (call: { account: string; endpoint: Endpoint; status: string; ms: number }) => void = () => {},
): Budget => {
  const stepMs = SECOND_MS / requestsPerSecond
  const ready = new Set<string>()
  // slonik refuses another connection inside a transaction; this one is meant, so it runs outside of that context.
  const outside = AsyncLocalStorage.snapshot()
  const run: Database['run'] = (work) => outside(() => database.run(work))
  return {
    call: async (account, endpoint, deadlineAt, ask) => {
      const key = { account, endpoint }
      const waitMs = await run(async (db) => {
        if (!ready.has(`${account}:${endpoint}`)) {
          await ensureBudget(db, key)
          ready.add(`${account}:${endpoint}`)
        }
        return reserveCall(db, {
          ...key,
          stepMs,
          burstMs: SECOND_MS,
          maxWaitMs: Math.max(0, deadlineAt - now()),
        })
      })
      if (waitMs === null) throw new BudgetSpent(endpoint)
      if (waitMs > 0) await sleep(waitMs)
      const startedAt = performance.now()
      const measured = (status: string) => measure({ ...key, status, ms: performance.now() - startedAt })
      try {
        const answer = await ask()
        measured('ok')
        return answer
      } catch (error) {
        const failure = readStripeFailure(error)
        measured(failure?.kind ?? 'error')
        if (failure?.kind === 'rate_limited') {
          const blockMs = failure.retryAfterMs ?? DEFAULT_BLOCK_MS
          await run((db) => slowEndpoint(db, { ...key, blockMs, cause: 'rate_limited' }))
        }
        if (failure?.kind === 'permission_missing') {
          await run((db) =>
            slowEndpoint(db, { ...key, blockMs: PERMISSION_BLOCK_MS, cause: 'permission_missing' }),
          )
        }
        throw error
      }
    },
  }
}
