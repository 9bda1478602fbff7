// Finds what the normal path could have lost: pending events whose job is gone. An in-flight claim still shows as
// queued, so nothing that runs is sent twice.
import type { WorkerContext } from '../context.ts'
import { MINUTE_MS } from '../time.ts'
import { findLongPending } from './queries.ts'
import { resendIfGone } from './store.ts'

const OLDER_THAN_MS = 2 * MINUTE_MS
const BATCH = 200
const PAGES = 5

/** Where the next pass goes on, by account. */
export type Cursors = Map<string, number>

/** Sends the jobs of long pending events again where they are gone. Returns how many. */
export const sweepLostJobs = async (
  ctx: Pick<WorkerContext, 'work' | 'queue' | 'log'>,
  accounts: readonly string[],
  cursors: Cursors = new Map(),
): Promise<number> => {
  let sent = 0
  for (const account of accounts) {
    // Page by page, going on where the last pass stopped: what waits for good reason must not hide what is lost behind
    // it, and a long backlog must not be gone through every time.
    for (let page = 0; page < PAGES; page += 1) {
      const swept = await sweepPage(ctx, account, cursors.get(account) ?? 0)
      sent += swept.sent
      cursors.set(account, swept.nextSeq ?? 0)
      if (swept.nextSeq === null) break
    }
  }
  if (sent > 0) ctx.log.error({ sent, alert: 'jobs_lost' }, 'inbox.sweep')
  return sent
}

type Page = { sent: number; nextSeq: number | null }

const sweepPage = (
  ctx: Pick<WorkerContext, 'work' | 'queue'>,
  account: string,
  afterSeq: number,
): Promise<Page> =>
  ctx.work.transaction(async (tx) => {
    const rows = await findLongPending(tx, { account, olderThanMs: OLDER_THAN_MS, afterSeq, limit: BATCH })
    let sent = 0
    for (const row of rows) if (await resendIfGone(tx, ctx.queue, row)) sent += 1
    return { sent, nextSeq: rows.length < BATCH ? null : (rows.at(-1)?.received_seq ?? null) }
  })
