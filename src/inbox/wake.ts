// Frees what waited: deferred events become due now, dead letters of that reason live again in a new epoch, all with
// a fresh budget. Called under the customer's lock, in the transaction that ended the wait, after its Stripe read.
import { randomUUID } from 'node:crypto'
import { insertAudit } from '../audit/queries.ts'
import { DEAD_QUEUE, eventQueue } from '../jobs.ts'
import type { Transaction } from '../postgres/pool.ts'
import type { Queue } from '../postgres/queue.ts'
import type { Reason } from '../reasons.ts'
import { findStoppedBy, markDueNow, markRevived } from './attempt-queries.ts'
import { eventJobOf, resendIfGone } from './store.ts'

export type Woken = { woken: number; revived: number }

/** Wakes and revives a customer's events that were stopped by `reason`; `exceptEventId` is the one that does so. */
export const wakeStopped = async (
  tx: Transaction,
  queue: Queue,
  input: {
    account: string
    customerId: string
    reason: Reason
    exceptEventId: string | null
    /** false: the dead stay dead. */
    revives?: boolean
  },
): Promise<Woken> => {
  const counts: Woken = { woken: 0, revived: 0 }
  for (const row of await findStoppedBy(tx, input)) {
    if (row.event_id === input.exceptEventId || (row.dead && input.revives === false)) continue
    const event = {
      account: input.account,
      eventId: row.event_id,
      epoch: row.epoch,
      customerId: input.customerId,
    }
    await (row.dead ? revive(tx, queue, event, row.job_id) : wake(tx, queue, event, row.job_id))
    await insertAudit(tx, {
      account: input.account,
      eventId: row.event_id,
      epoch: row.dead ? row.epoch + 1 : row.epoch,
      customerId: input.customerId,
      subscriptionId: null,
      kind: row.dead ? 'revived' : 'woken',
      reason: input.reason,
      detail: null,
    })
    counts[row.dead ? 'revived' : 'woken'] += 1
  }
  return counts
}

type Event = { account: string; eventId: string; epoch: number; customerId: string | null }

const wake = async (tx: Transaction, queue: Queue, event: Event, jobId: string | null) => {
  await markDueNow(tx, event)
  if (jobId !== null && (await queue.reschedule(tx, eventQueue(event.account), jobId, 0))) return
  const row = {
    account: event.account,
    event_id: event.eventId,
    epoch: event.epoch,
    job_id: jobId,
    customer_id: event.customerId,
    wait_ms: 0,
  }
  await resendIfGone(tx, queue, row)
}

/** A dead event gets a new job and a new epoch. False where it is not dead in this epoch any more. */
export const revive = async (
  tx: Transaction,
  queue: Queue,
  event: Event,
  deadJobId: string | null,
): Promise<boolean> => {
  const id = randomUUID()
  if (!(await markRevived(tx, { ...event, jobId: id }))) return false
  if (deadJobId !== null) await queue.remove(tx, DEAD_QUEUE, deadJobId)
  await queue.enqueue(tx, eventQueue(event.account), [
    { ...eventJobOf({ ...event, epoch: event.epoch + 1 }), id },
  ])
  return true
}
