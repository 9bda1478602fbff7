// Sweeps that may take minutes, beside the upkeep and never in its way: one after another, each claimed in the database,
// so that of several processes one runs it.
import type { WorkerContext } from '../context.ts'
import { ensureSweeps, type SweepKey } from '../audit/sweeps-queries.ts'
import { ENDS, recordEnds } from '../entitlements/ends.ts'
import { CATCHUP, catchUp } from '../inbox/catchup.ts'
import { RETENTION, sweepBodies } from '../inbox/retention.ts'
import { LOST_JOBS, sweepLostJobs } from '../inbox/sweep.ts'
import { DRIFT, sweepDrift } from '../operate/drift-sweep.ts'
import { SECOND_MS } from '../time.ts'
import { workableAccounts } from './upkeep.ts'

const LOOK_MS = 5 * SECOND_MS

type Known = { name: SweepKey['name']; everyMs: number }

export type Sweeps = { stop: () => Promise<void> }

/** Starts looking for sweeps that are due; `wake` is called when they left work. */
export const startSweeps = (ctx: WorkerContext, wake: () => void): Sweeps => {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const known = new Set<string>()
  // Rows stay once they are there: a look at rest must not write.
  const ensure = async (sweep: Known, all: readonly string[]) => {
    const accounts = all.filter((account) => !known.has(`${sweep.name} ${account}`))
    if (accounts.length === 0) return
    await ctx.work.run((db) => ensureSweeps(db, { ...sweep, accounts }))
    for (const account of accounts) known.add(`${sweep.name} ${account}`)
  }
  const sweeping = { ...ctx, ending: () => stopped }
  const everyone = ctx.accounts.all.map(({ name }) => name)
  const look = async () => {
    try {
      const running = await workableAccounts(ctx)
      await ensure(LOST_JOBS, everyone)
      if ((await sweepLostJobs(ctx, running)) > 0) wake()
      await ensure(ENDS, everyone)
      await recordEnds(ctx, running)
      // Without a key nothing can be asked.
      const withKey = running.filter((name) => ctx.accounts.named(name)?.client != null)
      await ensure(CATCHUP, withKey)
      if ((await catchUp(sweeping, withKey)) > 0) wake()
      await ensure(DRIFT, withKey)
      if ((await sweepDrift(sweeping, withKey)) > 0) wake()
      await ensure(RETENTION, everyone)
      await sweepBodies(sweeping, everyone)
    } catch (error) {
      if (!ctx.stop.aborted) ctx.log.warn({ err: error }, 'worker.sweep_failed')
    }
    if (stopped) return
    timer = setTimeout(() => {
      running = look()
    }, LOOK_MS)
  }
  let running: Promise<void> = look()
  return {
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
