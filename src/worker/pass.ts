// A pass: from a first claim until nothing is due, at most 10 s. Each nonempty pass logs one line of counts; nothing
// in it names an event or a customer.
import type { WorkerContext } from '../context.ts'
import { oldestPendingAge } from '../inbox/queries.ts'
import { SECOND_MS } from '../time.ts'

const PASS_MS = 10 * SECOND_MS

type How = 'applied' | 'ignored' | 'deferred' | 'retried' | 'postponed' | 'dead' | 'rerouted' | 'noop'

export type Pass = {
  begin: () => void
  count: (how: How) => void
  /** Nothing is due any more. */
  settle: () => void
}

export const createPass = (ctx: Pick<WorkerContext, 'log' | 'work' | 'config'>): Pass => {
  let open: { startedAt: number; counts: Record<How, number>; timer: NodeJS.Timeout } | null = null
  const settle = () => {
    if (open === null) return
    const { startedAt, counts, timer } = open
    open = null
    clearTimeout(timer)
    if (Object.values(counts).some((count) => count > 0))
      void report(ctx, counts, performance.now() - startedAt)
  }
  return {
    begin: () => {
      open ??= { startedAt: performance.now(), counts: none(), timer: setTimeout(settle, PASS_MS).unref() }
    },
    count: (how) => {
      if (open !== null) open.counts[how] += 1
    },
    settle,
  }
}

const none = (): Record<How, number> => ({
  applied: 0,
  ignored: 0,
  deferred: 0,
  retried: 0,
  postponed: 0,
  dead: 0,
  rerouted: 0,
  noop: 0,
})

const report = async (
  ctx: Pick<WorkerContext, 'log' | 'work' | 'config'>,
  counts: Record<How, number>,
  elapsedMs: number,
) => {
  const oldestMs = await ctx.work.run(oldestPendingAge).catch(() => null)
  const { dead, ...rest } = counts
  const line = {
    ...rest,
    dead_lettered: dead,
    oldest_pending_ms: oldestMs === null ? 0 : Math.round(oldestMs),
    duration_ms: Math.round(elapsedMs),
  }
  if (oldestMs !== null && oldestMs > ctx.config.recoveryObjectiveMs) {
    ctx.log.error({ ...line, alert: 'recovery_objective' }, 'worker.stripe_reconciliation')
  } else {
    ctx.log.info(line, 'worker.stripe_reconciliation')
  }
}
