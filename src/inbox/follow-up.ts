// What a finished read sets in motion: a second look after a stale answer, the dead letters that it makes decidable,
// and, where Stripe lost a subscription, the question whether the key still belongs to the same account.
import { countRecentFindings, noteFinding } from '../audit/queries.ts'
import type { WorkerContext } from '../context.ts'
import type { Reconciled } from '../entitlements/reconcile.ts'
import { enqueueReconcile } from '../entitlements/sweep.ts'
import type { Outcome } from '../outcome.ts'
import type { Transaction } from '../postgres/pool.ts'
import { pinStripeAccountId } from '../stripe/queries.ts'
import { MINUTE_MS, SECOND_MS } from '../time.ts'
import { pause } from './outage.ts'
import { wakeStopped } from './wake.ts'

const STALE_RECHECK_MS = 10 * SECOND_MS
// One customer may have been deleted by hand; three at once point at the key.
const VANISHED_PAUSE = 3
const VANISHED_WITHIN_MS = 10 * MINUTE_MS

type Parts = Pick<WorkerContext, 'queue' | 'log'>

/** After a reconcile that wrote. */
export const followUp = async (
  { queue, log }: Parts,
  tx: Transaction,
  input: {
    account: string
    customerId: string
    exceptEventId: string | null
    result: Extract<Reconciled, { kind: 'reconciled' }>
  },
): Promise<void> => {
  const { account, customerId, exceptEventId } = input
  if (input.result.stale && exceptEventId !== null) {
    await noteFinding(tx, {
      account,
      code: 'stale_read_suspected',
      subject: customerId,
      detail: { event_id: exceptEventId },
    })
    await enqueueReconcile(tx, queue, {
      account,
      customerId,
      cause: 'stale_read',
      startAfterMs: STALE_RECHECK_MS,
    })
    log.warn({ account, event_id: exceptEventId }, 'entitlements.stale_read_suspected')
  }
  // What a person had to decide may be plain now: the competing subscription has ended.
  if (!input.result.covered) {
    await wakeStopped(tx, queue, {
      account,
      customerId,
      reason: 'ambiguous_multi_subscription',
      exceptEventId,
    })
  }
}

/** `answeredBy`: Stripe's id of the account that the key belongs to now. */
export type Vanished = { subscriptionIds: string[]; answeredBy: string }

/**
 * Stripe does not know a subscription any more: access stays, a person is called. A wrong key answers the same way,
 * so where the account changed, or several customers vanish at once, the whole account pauses.
 */
export const stopVanished = async (
  { log }: Parts,
  tx: Transaction,
  { account, customerId, vanished }: { account: string; customerId: string; vanished: Vanished },
): Promise<Outcome> => {
  const { stripe_account_id: pinned } = await pinStripeAccountId(tx, {
    account,
    stripeAccountId: vanished.answeredBy,
  })
  await noteFinding(tx, {
    account,
    code: 'vanished_at_stripe',
    subject: customerId,
    detail: { subscriptions: vanished.subscriptionIds },
  })
  log.error({ account, alert: 'vanished_at_stripe' }, 'entitlements.vanished_at_stripe')
  const many = await countRecentFindings(tx, {
    account,
    code: 'vanished_at_stripe',
    withinMs: VANISHED_WITHIN_MS,
  })
  if (pinned === vanished.answeredBy && many < VANISHED_PAUSE) {
    return { kind: 'done', processed: 'no_change', reason: 'vanished_at_stripe' }
  }
  await pause({ log }, tx, account, 'stripe_account_changed')
  return {
    kind: 'postponed',
    reason: 'stripe_account_changed',
    error: 'vanished_at_stripe',
    delayMs: MINUTE_MS,
  }
}
