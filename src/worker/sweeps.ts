// Sweeps, beside the upkeep and never in its way: those that take a moment one after another, and the comparison of whole
// accounts, which may take long, by itself. Each is claimed in the database, so that of several processes one runs it; one
// that fails keeps no other from its turn.
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

type Sweep = {
  row: { name: SweepKey['name']; everyMs: number }
  /** Whose: accounts that run, those of them that have a key, or all. */
  of: 'running' | 'with_key' | 'all'
  /** Runs what is due; answers how much work it left for others. */
  run: (ctx: WorkerContext & { ending: () => boolean }, accounts: readonly string[]) => Promise<number>
}

const QUICK: readonly Sweep[] = [
  { row: LOST_JOBS, of: 'running', run: sweepLostJobs },
  { row: ENDS, of: 'running', run: recordEnds },
  { row: CATCHUP, of: 'with_key', run: catchUp },
  { row: RETENTION, of: 'all', run: sweepBodies },
]
const LONG: readonly Sweep[] = [{ row: DRIFT, of: 'with_key', run: sweepDrift }]

export type Sweeps = { stop: () => Promise<void> }

/** Starts looking for sweeps that are due; `wake` is called when they left work. */
export const startSweeps = (ctx: WorkerContext, wake: () => void): Sweeps => {
  const loops = [QUICK, LONG].map((sweeps) => startLoop(ctx, sweeps, wake))
  return {
    stop: async () => {
      await Promise.all(loops.map(({ stop }) => stop()))
    },
  }
}

const startLoop = (ctx: WorkerContext, sweeps: readonly Sweep[], wake: () => void): Sweeps => {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const ensure = ensurer(ctx)
  const sweeping = { ...ctx, ending: () => stopped }
  const look = async () => {
    for (const { row, of, run } of sweeps) {
      try {
        const accounts = await accountsOf(ctx, of)
        await ensure(row, accounts)
        if (!stopped && (await run(sweeping, accounts)) > 0) wake()
      } catch (error) {
        if (!ctx.stop.aborted) ctx.log.warn({ sweep: row.name, err: error }, 'worker.sweep_failed')
      }
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

// Without a key nothing can be asked.
const accountsOf = async (ctx: WorkerContext, of: Sweep['of']): Promise<readonly string[]> => {
  if (of === 'all') return ctx.accounts.all.map(({ name }) => name)
  const running = await workableAccounts(ctx)
  return of === 'running' ? running : running.filter((name) => ctx.accounts.named(name)?.client != null)
}

// Rows stay once they are there: a look at rest must not write.
const ensurer = (ctx: WorkerContext) => {
  const known = new Set<string>()
  return async (row: Sweep['row'], all: readonly string[]) => {
    const accounts = all.filter((account) => !known.has(`${row.name} ${account}`))
    if (accounts.length === 0) return
    await ctx.work.run((db) => ensureSweeps(db, { ...row, accounts }))
    for (const account of accounts) known.add(`${row.name} ${account}`)
  }
}
