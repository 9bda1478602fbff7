// job -> handler -> settlement: our own loop over pg-boss's public API. One slot holds one connection and one open
// transaction, which is the lease: a killed worker's claim rolls back with its connection, and no attempt is spent.
import type { WorkerContext } from './context.ts'
import { Interrupted } from './inbox/attempt.ts'
import { processEvent } from './inbox/process.ts'
import { anyDue } from './inbox/queries.ts'
import { processReconcile } from './inbox/reconcile-job.ts'
import { recordUnsettled } from './inbox/unsettled.ts'
import { eventQueue, reconcileQueue } from './jobs.ts'
import { tryLockGroup } from './postgres/lock.ts'
import { isConnectionLoss } from './postgres/failure.ts'
import { rollBackWith, type Transaction } from './postgres/pool.ts'
import type { Claim } from './postgres/queue.ts'
import { SECOND_MS } from './time.ts'
import { createBusyGroups, type BusyGroups } from './worker/busy.ts'
import { createPass, type Pass } from './worker/pass.ts'
import { workableAccounts } from './worker/upkeep.ts'

export type Worker = {
  /** There may be something to do. */
  wake: () => void
  /** Takes no more claims; resolves when the running attempts have ended. */
  drain: () => Promise<void>
}

// Nothing can be written about it just now; the alert has been raised.
const UNRECORDED_MS = 5 * SECOND_MS

type Took = 'worked' | 'nothing' | 'failed'

/** Starts `batchSize` slots. */
export const startWorker = (ctx: WorkerContext): Worker => {
  const busy = createBusyGroups(() => wakeOne())
  const pass = createPass(ctx)
  const idle: (() => void)[] = []
  let stopping = false
  let running = 0

  const wakeOne = () => idle.shift()?.()
  const slot = async (first: number) => {
    for (let turn = first; !stopping; turn += 1) {
      running += 1
      const took = await takeOne(ctx, busy, pass, turn)
      running -= 1
      // Where one was found there may be more: the next slot looks while this one goes on.
      if (took === 'worked') wakeOne()
      if (took === 'failed') await pause(SECOND_MS)
      if (took === 'nothing') {
        if (running === 0) pass.settle()
        await new Promise<void>((resolve) => {
          if (stopping) resolve()
          else idle.push(resolve)
        })
      }
    }
  }
  const slots = Array.from({ length: ctx.config.worker.batchSize }, (_, index) => slot(index))
  const poll = startPoll(ctx, wakeOne)
  return {
    wake: wakeOne,
    drain: async () => {
      stopping = true
      poll.stop()
      busy.stop()
      for (const resume of idle.splice(0)) resume()
      await Promise.all(slots)
      pass.settle()
    },
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

// Polling is the contract, NOTIFY a hint. While something due is held by another process (which may have died), look
// each second.
const startPoll = (ctx: WorkerContext, wake: () => void) => {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const tick = async () => {
    let waitMs = ctx.config.worker.pollMs
    try {
      const accounts = await workableAccounts(ctx)
      if (await ctx.work.run((db) => anyDue(db, accounts))) waitMs = Math.min(waitMs, SECOND_MS)
      wake()
    } catch (error) {
      ctx.log.warn({ err: error }, 'worker.poll_failed')
    }
    if (!stopped) timer = setTimeout(() => void tick(), waitMs)
  }
  void tick()
  return {
    stop: () => {
      stopped = true
      clearTimeout(timer)
    },
  }
}

const takeOne = async (ctx: WorkerContext, busy: BusyGroups, pass: Pass, turn: number): Promise<Took> => {
  let claim: Claim | null = null
  try {
    const accounts = await workableAccounts(ctx)
    const queues = accounts.flatMap((account) => [eventQueue(account), reconcileQueue(account)])
    let took: Took = 'nothing'
    for (let index = 0; index < queues.length && took === 'nothing'; index += 1) {
      const queue = queues[(turn + index) % queues.length] ?? ''
      took = await ctx.work.transaction((tx) =>
        runOne(ctx, tx, queue, busy, pass, (taken) => (claim = taken)),
      )
    }
    return took
  } catch (error) {
    return await afterFailure(ctx, busy, claim, error)
  } finally {
    if (claim !== null) busy.leave((claim as Claim).group)
  }
}

const runOne = async (
  ctx: WorkerContext,
  tx: Transaction,
  queue: string,
  busy: BusyGroups,
  pass: Pass,
  taken: (claim: Claim) => void,
) => {
  const claim = await ctx.queue.claim(tx, queue, busy.groups())
  if (claim === null) return rollBackWith<Took>('nothing')
  pass.begin()
  // Another slot took one of the same customer meanwhile; the next claim leaves that customer out.
  if (!busy.enter(claim.group)) return rollBackWith<Took>('worked')
  taken(claim)
  if (!(await tryLockGroup(tx, claim.group))) {
    busy.hold(claim.group)
    return rollBackWith<Took>('worked')
  }
  busy.free(claim.group)
  const done = queue.startsWith('billing.')
    ? await processEvent(ctx, tx, claim)
    : await processReconcile(ctx, tx, claim)
  pass.count(done.how)
  return 'worked' as Took
}

// A failure to settle is also a failure: it must be recorded somewhere, or the claim would come back for ever.
const afterFailure = async (
  ctx: WorkerContext,
  busy: BusyGroups,
  claim: Claim | null,
  error: unknown,
): Promise<Took> => {
  if (error instanceof Interrupted) return 'nothing'
  if (isConnectionLoss(error)) {
    ctx.log.warn({ err: error }, 'worker.connection_lost')
    return 'failed'
  }
  ctx.log.error({ err: error }, 'worker.not_settled')
  // The claim has been rolled back: left alone it would come back at once.
  if (claim !== null && !(await recordUnsettled(ctx, claim, error))) busy.hold(claim.group, UNRECORDED_MS)
  return claim === null ? 'failed' : 'worked'
}
