// Finds what the normal path could have lost: pending events whose job is gone. An in-flight claim still shows as
// queued, so nothing that runs is sent twice.
import { claimSweeps, endSweep } from '../audit/sweeps-queries.ts'
import type { WorkerContext } from '../context.ts'
import { MINUTE_MS, SECOND_MS } from '../time.ts'
import { findLongPending } from './queries.ts'
import { resendIfGone } from './store.ts'

const OLDER_THAN_MS = 2 * MINUTE_MS
const BATCH = 200
const PAGES = 5

const NAME = 'lost_jobs'
const EVERY_MS = 30 * SECOND_MS
/** For `ensureSweeps`. */
export const LOST_JOBS = { name: NAME, everyMs: EVERY_MS } as const
const LEASE_MS = 5 * MINUTE_MS

type Parts = Pick<WorkerContext, 'work' | 'queue' | 'log'>

/** Runs what is due of these accounts. Returns how many jobs were sent again. */
export const sweepLostJobs = async (ctx: Parts, accounts: readonly string[]): Promise<number> => {
  let all = 0
  for (const { account, cursor } of await ctx.work.run((db) =>
    claimSweeps(db, { accounts, name: NAME, leaseMs: LEASE_MS }),
  )) {
    const afterSeq = (cursor as { afterSeq: number } | null)?.afterSeq ?? 0
    const { sent, nextSeq } = await resendLost(ctx, account, afterSeq)
    await ctx.work.run((db) =>
      endSweep(db, {
        account,
        name: NAME,
        throughAt: null,
        cursor: nextSeq === null ? null : { afterSeq: nextSeq },
        result: { sent },
        nextMs: EVERY_MS,
      }),
    )
    all += sent
  }
  return all
}

/**
 * Sends the jobs of an account's long pending events again where they are gone. Page by page, and the next run goes on at
 * `nextSeq`: what waits for good reason must not hide what is lost behind it, and a long backlog must not be gone
 * through every time.
 */
export const resendLost = async (ctx: Parts, account: string, afterSeq = 0): Promise<Page> => {
  let [sent, nextSeq]: [number, number | null] = [0, afterSeq]
  for (let page = 0; page < PAGES && nextSeq !== null; page += 1) {
    const swept: Page = await sweepPage(ctx, account, nextSeq)
    sent += swept.sent
    nextSeq = swept.nextSeq
  }
  if (sent > 0) ctx.log.error({ account, sent, alert: 'jobs_lost' }, 'inbox.sweep')
  return { sent, nextSeq }
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
