// An attempt whose own transaction could not be settled (a constraint, a text that the database refuses): recorded on
// a connection kept for this, or the claim would come back at once and for ever.
import type { WorkerContext } from '../context.ts'
import { eventJob } from '../jobs.ts'
import { lockGroup } from '../postgres/lock.ts'
import type { Claim } from '../postgres/queue.ts'
import { SECOND_MS } from '../time.ts'
import { findClaimedEvent } from './attempt-queries.ts'
import { errorWord } from './attempt.ts'
import { settle } from './settle.ts'
import { tellSettled } from './tell.ts'

/**
 * Records a failed attempt by compare-and-set; does nothing where the event was settled since. Never throws: false
 * where even that could not be written.
 */
export const recordUnsettled = async (ctx: WorkerContext, claim: Claim, error: unknown): Promise<boolean> => {
  try {
    await ctx.reserve.transaction(async (tx) => {
      await lockGroup(tx, claim.group)
      const job = eventJob.safeParse(claim.data)
      if (!job.success) {
        await ctx.queue.reschedule(tx, claim.queue, claim.id, 5 * SECOND_MS)
        return
      }
      const event = await findClaimedEvent(tx, { ...job.data, jobId: claim.id })
      if (event === null) return
      const reason = 'internal_error'
      const outcome = { kind: 'retry', reason, error: errorWord(error) } as const
      const how = await settle(ctx, tx, { event, claim, claimed: false, startedAt: event.now }, outcome)
      tellSettled(ctx, event, { how, reason, latencyMs: null })
    })
    return true
  } catch (second) {
    ctx.log.error({ err: second, alert: 'not_settled' }, 'worker.not_recorded')
    return false
  }
}
