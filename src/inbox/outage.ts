// When Stripe does not answer as asked: whose fault it is, how long to wait, and whether the whole account pauses.
// Spends no attempt: an outage of Stripe must not dead-letter anything.
import { noteFinding } from '../audit/queries.ts'
import type { WorkerContext } from '../context.ts'
import { recordReadFailure } from '../customers/queries.ts'
import type { Outcome } from '../outcome.ts'
import type { Transaction } from '../postgres/pool.ts'
import { BudgetSpent } from '../stripe/budget.ts'
import { readStripeFailure, type StripeFailure } from '../stripe/failure.ts'
import { pauseAccount } from '../stripe/queries.ts'
import { backoffMs, MINUTE_MS, SECOND_MS } from '../time.ts'

/** Fewer are one customer's own trouble; three at once are Stripe's. */
const FAILING_CUSTOMERS_PAUSE = 3
const FAILURES_ALERT = 10
const PROBE_MS = 10 * SECOND_MS

type Parts = Pick<WorkerContext, 'log'>
type Whom = { account: string; customerId: string | null }

/** What Stripe's failure means for an attempt; null where the error is not Stripe's. */
export const readOutage = (error: unknown): StripeFailure | null =>
  error instanceof BudgetSpent
    ? { kind: 'rate_limited', retryAfterMs: error.retryAfterMs }
    : readStripeFailure(error)

/** Turns a failed Stripe call into an outcome, and pauses or reports what has to be. Outside of the savepoint. */
export const settleOutage = async (
  parts: Parts,
  tx: Transaction,
  whom: Whom,
  failure: StripeFailure,
): Promise<Outcome> => {
  switch (failure.kind) {
    case 'rate_limited':
      return postponed(
        'stripe_rate_limited',
        'rate_limited',
        failure.retryAfterMs ?? backoffMs({ baseMs: 2 * SECOND_MS, capMs: MINUTE_MS }, 1, Math.random()),
      )
    case 'unauthorized':
      await pause(parts, tx, whom.account, 'stripe_unauthorized')
      return postponed('stripe_unauthorized', 'status_401', PROBE_MS)
    case 'permission_missing':
      await noteFinding(tx, {
        account: whom.account,
        code: 'permission_missing',
        subject: whom.account,
        detail: {},
      })
      parts.log.error({ account: whom.account, alert: 'permission_missing' }, 'stripe.permission_missing')
      return postponed('permission_missing', 'status_403', MINUTE_MS)
    case 'unavailable':
      return unavailable(parts, tx, whom, failure.detail)
    case 'missing':
      return { kind: 'retry', reason: 'stripe_refused', error: 'resource_missing' }
    case 'refused':
      return { kind: 'retry', reason: 'stripe_refused', error: failure.detail }
  }
}

const postponed = (
  reason: Extract<Outcome, { kind: 'postponed' }>['reason'],
  error: string,
  delayMs: number,
): Outcome => ({
  kind: 'postponed',
  reason,
  error,
  delayMs,
})

const unavailable = async (
  parts: Parts,
  tx: Transaction,
  { account, customerId }: Whom,
  detail: string,
): Promise<Outcome> => {
  const { failures, failing } =
    customerId === null ? { failures: 1, failing: 1 } : await recordReadFailure(tx, { account, customerId })
  if (failing >= FAILING_CUSTOMERS_PAUSE) await pause(parts, tx, account, 'stripe_unavailable')
  if (failures === FAILURES_ALERT)
    parts.log.error({ account, alert: 'stripe_unavailable', failures }, 'stripe.customer_unreadable')
  return postponed(
    'stripe_unavailable',
    detail,
    backoffMs({ baseMs: 5 * SECOND_MS, capMs: 5 * MINUTE_MS }, failures, Math.random()),
  )
}

/** Pauses an account until a probe finds Stripe well again (`stripe_account_changed`: until a person acts). */
export const pause = async (
  parts: Parts,
  tx: Transaction,
  account: string,
  cause: 'stripe_unauthorized' | 'stripe_unavailable' | 'stripe_account_changed',
) => {
  const probeMs = cause === 'stripe_account_changed' ? null : PROBE_MS
  if (await pauseAccount(tx, { account, cause, probeMs })) {
    parts.log.error({ account, alert: cause }, 'stripe.account_paused')
  }
}
