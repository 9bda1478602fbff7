// Reconciles one linked customer inside a savepoint, for an event or for a job: what its outcome sets in motion, and
// what is done where nothing could be written.
import type { WorkerContext } from '../context.ts'
import { recordAnswered, type CustomerRow } from '../customers/queries.ts'
import type { Evidence } from '../entitlements/evidence.ts'
import { reconcile, type Reconciled } from '../entitlements/reconcile.ts'
import type { Outcome } from '../outcome.ts'
import type { Transaction } from '../postgres/pool.ts'
import type { StripeReader } from '../stripe/read.ts'
import { guarded } from './attempt.ts'
import { followUp, stopVanished, type Vanished } from './follow-up.ts'

export type CustomerTask = {
  customer: CustomerRow
  evidence: Evidence | null
  /** Recorded as the cause in the history. */
  cause: string
  /** The event itself, which must not wake itself. */
  eventId: string | null
  openReader: () => StripeReader
}

type Written = Extract<Reconciled, { kind: 'reconciled' }>
type Blocked = Extract<Reconciled, { kind: 'blocked' }>

/** `conclude` says what the result means for the task; it runs in the savepoint, whose writes stay only if it is done. */
export const reconcileCustomer = async (
  ctx: WorkerContext,
  tx: Transaction,
  task: CustomerTask,
  conclude: (savepoint: Transaction, result: Written | Blocked) => Promise<Outcome> | Outcome,
): Promise<Outcome> => {
  const { account, customer_id: customerId, tenant_id: tenantId } = task.customer
  if (tenantId === null) return { kind: 'done', processed: 'ignored', reason: 'no_tenant' }
  const key = { account, customerId }
  let vanished: Vanished | null = null
  let answered = false
  const outcome = await guarded(ctx, tx, task.customer, async (savepoint): Promise<Outcome> => {
    const { evidence, cause, openReader } = task
    const customer = { ...task.customer, tenant_id: tenantId }
    const result = await reconcile(ctx, savepoint, { account, customer, evidence, cause, openReader })
    if (result.kind === 'vanished') {
      vanished = { subscriptionIds: result.subscriptionIds, answeredBy: await openReader().accountId() }
      answered = true
      // Undoes the savepoint; what is to be done is decided outside of it.
      return { kind: 'permanent', reason: 'vanished_at_stripe', error: null }
    }
    if (result.kind === 'reconciled')
      await followUp(ctx, savepoint, { ...key, exceptEventId: task.eventId, result })
    else answered = result.answered
    return conclude(savepoint, result)
  })
  // Whatever was decided: Stripe has answered, so access that is held is not stale.
  if (answered) await recordAnswered(tx, key)
  return vanished === null ? outcome : stopVanished(ctx, tx, { ...key, vanished })
}
