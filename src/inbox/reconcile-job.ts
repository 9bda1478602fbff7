// One claimed `customer.reconcile` job: the same read and write as for an event, without an event. The queue counts
// its tries; used up, it becomes a finding, and the next sweep or event reads the customer again.
import { noteFinding, resolveFinding } from '../audit/queries.ts'
import type { WorkerContext } from '../context.ts'
import { rememberCustomer, type CustomerRow } from '../customers/queries.ts'
import { decideAgain } from '../entitlements/payload-reconcile.ts'
import { enqueueReconcile } from '../entitlements/sweep.ts'
import { reconcileJob, type ReconcileJob } from '../jobs.ts'
import type { Outcome } from '../outcome.ts'
import type { Transaction } from '../postgres/pool.ts'
import type { Claim } from '../postgres/queue.ts'
import { openReader } from '../stripe/read.ts'
import { guarded } from './attempt.ts'
import { wakeAfter } from './payload.ts'
import { reconcileCustomer } from './reconcile-customer.ts'

export type Ran = { how: 'applied' | 'retried' | 'postponed' | 'dead' | 'noop'; reason: string | null }

/** Runs a claimed reconcile job. The caller holds the lock of the job's group. */
export const processReconcile = async (ctx: WorkerContext, tx: Transaction, claim: Claim): Promise<Ran> => {
  const job = reconcileJob.safeParse(claim.data)
  if (!job.success) {
    await ctx.queue.complete(tx, claim, { code: 'not_a_job' })
    return { how: 'noop', reason: 'not_a_job' }
  }
  const outcome = await attempt(ctx, tx, job.data)
  return settleJob(ctx, tx, claim, job.data, outcome)
}

const attempt = async (
  ctx: WorkerContext,
  tx: Transaction,
  { account: name, customerId, cause }: ReconcileJob,
): Promise<Outcome> => {
  const account = ctx.accounts.named(name)
  if (account === null)
    return { kind: 'retry', reason: 'internal_error', error: 'account is not configured here' }
  const key = { account: name, customerId }
  const customer = await rememberCustomer(tx, key)
  if (account.client === null) return againFromPayload(ctx, tx, customer, `job:${cause}`)
  const reader = openReader(account, ctx.budget, { stop: ctx.stop, now: ctx.now })
  const task = { customer, evidence: null, cause: `job:${cause}`, eventId: null, openReader: () => reader }
  return reconcileCustomer(ctx, tx, task, (_savepoint, result) =>
    result.kind === 'blocked'
      ? { kind: 'permanent', reason: result.reason, error: result.error }
      : { kind: 'done', processed: result.changed ? 'applied' : 'no_change', reason: null },
  )
}

/** Nothing can be read: what is known is decided again, by the catalog in force. */
const againFromPayload = (
  ctx: WorkerContext,
  tx: Transaction,
  customer: CustomerRow,
  cause: string,
): Promise<Outcome> =>
  guarded(ctx, tx, customer, async (savepoint): Promise<Outcome> => {
    const { account, customer_id: customerId, tenant_id: tenantId } = customer
    if (tenantId === null) return { kind: 'done', processed: 'ignored', reason: 'no_tenant' }
    const linked = { ...customer, tenant_id: tenantId }
    const result = await decideAgain(ctx, savepoint, { account, customer: linked, cause })
    if (result.kind === 'stopped') return { kind: 'permanent', reason: result.reason, error: result.error }
    await wakeAfter(ctx, savepoint, { account, customerId, exceptEventId: null, result })
    return { kind: 'done', processed: result.processed, reason: result.reason }
  })

const settleJob = async (
  ctx: WorkerContext,
  tx: Transaction,
  claim: Claim,
  job: ReconcileJob,
  outcome: Outcome,
): Promise<Ran> => {
  const subject = { account: job.account, code: 'reconcile_failed', subject: job.customerId }
  switch (outcome.kind) {
    case 'done':
      await resolveFinding(tx, { ...subject, by: `job:${job.cause}` })
      await ctx.queue.complete(tx, claim, { code: outcome.reason ?? outcome.processed })
      return { how: 'applied', reason: outcome.reason }
    case 'postponed':
      await ctx.queue.complete(tx, claim, { code: outcome.reason })
      await enqueueReconcile(tx, ctx.queue, { ...job, startAfterMs: outcome.delayMs })
      return { how: 'postponed', reason: outcome.reason }
    case 'retry':
      if (claim.retryCount < claim.retryLimit) {
        await ctx.queue.retry(tx, claim, outcome.reason, null)
        return { how: 'retried', reason: outcome.reason }
      }
      break
    case 'deferred':
    case 'permanent':
    case 'rerouted':
      break
  }
  const reason = 'reason' in outcome ? outcome.reason : null
  // The next sweep tries again; one alarm is enough for as long as it stays open.
  if (await noteFinding(tx, { ...subject, detail: { reason, cause: job.cause } })) {
    ctx.log.error(
      { account: job.account, alert: 'reconcile_failed', reason },
      'entitlements.reconcile_failed',
    )
  }
  await ctx.queue.complete(tx, claim, { code: 'reconcile_failed' })
  return { how: 'dead', reason }
}
