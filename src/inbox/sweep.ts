// Finds what the normal path could have lost: pending events whose job is gone. An in-flight claim still shows as
// queued, so nothing that runs is sent twice.
import type { WorkerContext } from '../context.ts'
import { MINUTE_MS } from '../time.ts'
import { findLongPending } from './queries.ts'
import { resendIfGone } from './store.ts'

const OLDER_THAN_MS = 2 * MINUTE_MS
const BATCH = 200

/** Sends the jobs of long pending events again where they are gone. Returns how many. */
export const sweepLostJobs = async (
  ctx: Pick<WorkerContext, 'work' | 'queue' | 'log'>,
  accounts: readonly string[],
): Promise<number> => {
  let sent = 0
  for (const account of accounts) {
    sent += await ctx.work.transaction(async (tx) => {
      let found = 0
      for (const row of await findLongPending(tx, { account, olderThanMs: OLDER_THAN_MS, limit: BATCH })) {
        if (await resendIfGone(tx, ctx.queue, row)) found += 1
      }
      return found
    })
  }
  if (sent > 0) ctx.log.error({ sent, alert: 'jobs_lost' }, 'inbox.sweep')
  return sent
}
