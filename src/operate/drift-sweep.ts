// The drift comparison by the clock: each account with a key, one process at a time, again where one dies.
import { claimSweeps, endSweep, extendSweep, failSweep } from '../audit/sweeps-queries.ts'
import type { WorkerContext } from '../context.ts'
import { readOutage } from '../inbox/outage.ts'
import { HOUR_MS, MINUTE_MS } from '../time.ts'
import { runDrift } from './drift-run.ts'
import { partsOf } from './parts.ts'

const NAME = 'drift'
const LEASE_MS = 10 * MINUTE_MS
const AGAIN_MS = 15 * MINUTE_MS
// Soon after the first start, because of what was there before us; later at the interval.
const FIRST_MS = 5 * MINUTE_MS
/** For `ensureSweeps`. */
export const DRIFT = { name: NAME, everyMs: FIRST_MS } as const

class Ending extends Error {}

/** Runs what is due of these accounts. Returns how many customers were found to differ. */
export const sweepDrift = async (
  ctx: WorkerContext & { ending: () => boolean },
  accounts: readonly string[],
): Promise<number> => {
  const { hours, maxRevocations } = ctx.config.drift
  if (hours === 0) return 0
  const parts = { ...partsOf(ctx, ctx.stop), database: ctx.work }
  let differences = 0
  for (const { account } of await ctx.work.run((db) =>
    claimSweeps(db, { accounts, name: NAME, leaseMs: LEASE_MS }),
  )) {
    const key = { account, name: NAME } as const
    const beat = async () => {
      if (ctx.ending()) throw new Ending()
      await ctx.work.run((db) => extendSweep(db, { ...key, leaseMs: LEASE_MS }))
    }
    try {
      const done = await runDrift(parts, { account, dryRun: false, maxRevocations, beat })
      if (done.kind === 'refused') continue
      const { run, compared, differences: found } = done.data
      const result = {
        run: run?.run_id ?? null,
        compared,
        differences: found.length,
        losses: run?.losses ?? 0,
      }
      differences += found.length
      await ctx.work.run((db) =>
        endSweep(db, { ...key, throughAt: null, cursor: null, result, nextMs: hours * HOUR_MS }),
      )
    } catch (error) {
      await afterFailure(ctx, key, error)
    }
  }
  return differences
}

const afterFailure = async (ctx: WorkerContext, key: { account: string; name: 'drift' }, error: unknown) => {
  if (ctx.stop.aborted) return
  // Somebody else, or we after the restart, begin again at once.
  if (error instanceof Ending)
    return void (await ctx.work.run((db) => extendSweep(db, { ...key, leaseMs: 0 })))
  const word = readOutage(error)?.kind ?? 'unknown'
  await ctx.work.run((db) => failSweep(db, { ...key, error: word, nextMs: AGAIN_MS }))
  ctx.log.warn(
    { account: key.account, cause: word, err: word === 'unknown' ? error : undefined },
    'operate.drift_failed',
  )
}
