// Bodies of old events are forgotten: what was settled long ago needs its row (so that a copy is known), not its body.
// What is pending or dead keeps it, however old.
import { claimSweeps, endSweep } from '../audit/sweeps-queries.ts'
import type { WorkerContext } from '../context.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../time.ts'
import { forgetBodies } from './queries.ts'

const NAME = 'retention'
const EVERY_MS = HOUR_MS
/** For `ensureSweeps`. */
export const RETENTION = { name: NAME, everyMs: EVERY_MS } as const
const LEASE_MS = 10 * MINUTE_MS
// Small enough not to hold rows for long, and few enough that another sweep comes to its turn.
const BATCH = 1_000
const BATCHES = 20

type Parts = Pick<WorkerContext, 'config' | 'log' | 'work'> & { ending: () => boolean }

/** Runs what is due of these accounts. Returns how many bodies were forgotten. */
export const sweepBodies = async (ctx: Parts, accounts: readonly string[]): Promise<number> => {
  let all = 0
  for (const { account } of await ctx.work.run((db) =>
    claimSweeps(db, { accounts, name: NAME, leaseMs: LEASE_MS }),
  )) {
    const olderThanMs = ctx.config.payloadRetentionDays * DAY_MS
    let forgotten = 0
    let more = true
    for (let batch = 0; batch < BATCHES && more && !ctx.ending(); batch += 1) {
      const { rowCount } = await ctx.work.run((db) =>
        forgetBodies(db, { account, olderThanMs, limit: BATCH }),
      )
      forgotten += rowCount
      more = rowCount === BATCH
    }
    const nextMs = more ? SECOND_MS : EVERY_MS
    await ctx.work.run((db) =>
      endSweep(db, { account, name: NAME, throughAt: null, cursor: null, result: { forgotten }, nextMs }),
    )
    all += forgotten
  }
  if (all > 0) ctx.log.info({ forgotten: all }, 'inbox.retention')
  return all
}
