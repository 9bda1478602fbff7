// Reads that no event asks for: after a link, after a stale answer, when a recheck end has come, when the catalog or
// the rules changed.
import type { WorkerContext } from '../context.ts'
import { groupOf, reconcileQueue, type ReconcileJob } from '../jobs.ts'
import type { Transaction } from '../postgres/pool.ts'
import type { Queue } from '../postgres/queue.ts'
import { DECISION_VERSION } from './decide.ts'
import { claimRechecks } from './queries.ts'

/** Enqueues a read of one customer, in the caller's transaction. */
export const enqueueReconcile = async (
  tx: Transaction,
  queue: Queue,
  { startAfterMs = 0, ...job }: ReconcileJob & { startAfterMs?: number },
): Promise<void> => {
  await queue.enqueue(tx, reconcileQueue(job.account), [
    { data: job, group: groupOf(job.account, job.customerId, ''), startAfterMs },
  ])
}

// Each customer costs a read; more than this a pass would starve events of Stripe's budget.
const RECHECKS_MAX = 50

/** Sends a read to customers whose recheck end has come, or whom another catalog or other rules decided. */
export const sweepRechecks = async (ctx: WorkerContext, accounts: readonly string[]): Promise<number> => {
  const { hash: catalogHash } = ctx.catalog()
  return ctx.work.transaction(async (tx) => {
    const due = await claimRechecks(tx, {
      accounts,
      catalogHash,
      decisionVersion: DECISION_VERSION,
      limit: RECHECKS_MAX,
    })
    for (const { account, customer_id: customerId } of due) {
      await enqueueReconcile(tx, ctx.queue, { account, customerId, cause: 'recheck' })
    }
    return due.length
  })
}
