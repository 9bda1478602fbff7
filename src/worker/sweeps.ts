// Sweeps that may take minutes, beside the upkeep and never in its way: one after another, each claimed in the database,
// so that of several processes one runs it.
import type { WorkerContext } from '../context.ts'
import { catchUp } from '../inbox/catchup.ts'
import { sweepBodies } from '../inbox/retention.ts'
import { SECOND_MS } from '../time.ts'
import { workableAccounts } from './upkeep.ts'

const LOOK_MS = 5 * SECOND_MS

export type Sweeps = { stop: () => Promise<void> }

/** Starts looking for sweeps that are due; `wake` is called when they left work. */
export const startSweeps = (ctx: WorkerContext, wake: () => void): Sweeps => {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const look = async () => {
    try {
      const sweeping = { ...ctx, ending: () => stopped }
      // Without a key nothing can be asked.
      const withKey = (await workableAccounts(ctx)).filter((name) => ctx.accounts.named(name)?.client != null)
      const found = await catchUp(sweeping, withKey)
      if (found > 0) wake()
      await sweepBodies(
        sweeping,
        ctx.accounts.all.map(({ name }) => name),
      )
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
