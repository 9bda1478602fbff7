// SQL of one attempt: the claimed event, how it is settled (always by compare-and-set), and waking what waits.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Processed } from '../outcome.ts'
import type { Transaction } from '../postgres/pool.ts'
import type { Instant } from '../time.ts'

const eventRow = sql.type(
  z.strictObject({
    account: z.string(),
    event_id: z.string(),
    received_seq: z.number(),
    type: z.string(),
    customer_id: z.string().nullable(),
    payload: z.string().nullable(),
    epoch: z.number(),
    attempts: z.number(),
    stripe_created_at: z.number().nullable(),
    received_at: z.number(),
    now: z.number(),
  }),
)

/** The event of a claimed job, if it is still pending, of this epoch and waiting for this very job. */
export const findClaimedEvent = (
  tx: Transaction,
  input: { account: string; eventId: string; epoch: number; jobId: string },
) =>
  tx.maybeOne(eventRow`
    select account, event_id, received_seq, type, customer_id, payload, epoch, attempts, stripe_created_at,
      received_at, goodstanding.clock() as now
    from goodstanding.billing_events
    where account = ${input.account}
      and event_id = ${input.eventId}
      and epoch = ${input.epoch}
      and job_id = ${input.jobId}
      and processed_at is null
      and dead_letter_at is null
  `)
export type EventRow = NonNullable<Awaited<ReturnType<typeof findClaimedEvent>>>

/** What identifies an attempt: the row must still be as it was claimed, or the whole transaction is undone. */
export type Fence = { account: string; eventId: string; epoch: number; jobId: string; attempts: number }

const fenced = (fence: Fence) => sql.fragment`
  account = ${fence.account}
  and event_id = ${fence.eventId}
  and epoch = ${fence.epoch}
  and job_id = ${fence.jobId}
  and attempts = ${fence.attempts}
  and processed_at is null
  and dead_letter_at is null
`

const changedOne = (result: { rowCount: number | null }) => result.rowCount === 1

export const markProcessed = async (
  tx: Transaction,
  fence: Fence,
  processed: Processed,
  reason: string | null,
) =>
  changedOne(
    await tx.query(sql.unsafe`
    update goodstanding.billing_events
    set processed_at = goodstanding.clock(),
        outcome = ${processed},
        reason = ${reason},
        attempts = attempts + 1,
        next_attempt_at = null,
        ack_wait_until = null
    where ${fenced(fence)}
  `),
  )

export type Failed = { reason: string; error: string | null; counts: boolean; delayMs: number; jobId: string }

/** Still pending: what happened, when the next try is due, and the job that will make it. */
export const markWaiting = async (tx: Transaction, fence: Fence, failed: Failed) =>
  changedOne(
    await tx.query(sql.unsafe`
    update goodstanding.billing_events
    set attempts = attempts + ${failed.counts ? 1 : 0},
        reason = ${failed.reason},
        last_error = ${cut(failed.error)},
        last_error_at = goodstanding.clock(),
        next_attempt_at = goodstanding.clock() + ${failed.delayMs}::float8 * interval '1 millisecond',
        job_id = ${failed.jobId},
        ack_wait_until = null
    where ${fenced(fence)}
  `),
  )

export const markDead = async (
  tx: Transaction,
  fence: Fence,
  dead: {
    outcome: 'permanent' | 'attempts_exhausted'
    reason: string
    error: string | null
    deadJobId: string
  },
) =>
  changedOne(
    await tx.query(sql.unsafe`
    update goodstanding.billing_events
    set dead_letter_at = goodstanding.clock(),
        outcome = ${dead.outcome},
        reason = ${dead.reason},
        last_error = ${cut(dead.error)},
        last_error_at = goodstanding.clock(),
        attempts = attempts + 1,
        next_attempt_at = null,
        job_id = ${dead.deadJobId},
        ack_wait_until = null
    where ${fenced(fence)}
  `),
  )

/** The customer of an event became known; another job, in that customer's group, takes it from here. */
export const markRerouted = async (
  tx: Transaction,
  fence: Fence,
  input: { customerId: string; jobId: string },
) =>
  changedOne(
    await tx.query(sql.unsafe`
    update goodstanding.billing_events
    set customer_id = ${input.customerId},
        job_id = ${input.jobId}
    where ${fenced(fence)}
  `),
  )

export const insertAttempt = (
  tx: Transaction,
  input: {
    account: string
    eventId: string
    epoch: number
    startedAt: Instant
    outcome: string
    code: string | null
    worker: string
    version: string
  },
) =>
  tx.query(sql.unsafe`
    insert into goodstanding.event_attempts (account, event_id, epoch, started_at, outcome, code, worker, version)
    values (${input.account}, ${input.eventId}, ${input.epoch}, ${sql.timestamp(new Date(input.startedAt))},
            ${input.outcome}, ${input.code}, ${input.worker}, ${input.version})
  `)

const waitingRow = sql.type(
  z.strictObject({
    event_id: z.string(),
    job_id: z.string().nullable(),
    dead: z.boolean(),
    epoch: z.number(),
  }),
)

/** Events of a customer that wait for, or died of, one reason. */
export const findStoppedBy = (
  tx: Transaction,
  input: { account: string; customerId: string; reason: string },
) =>
  tx.any(waitingRow`
    select event_id, job_id, dead_letter_at is not null as dead, epoch
    from goodstanding.billing_events
    where account = ${input.account}
      and customer_id = ${input.customerId}
      and reason = ${input.reason}
      and processed_at is null
    order by received_seq
    for update
  `)

/** A deferred event is due now, with a fresh budget. */
export const markDueNow = (tx: Transaction, input: { account: string; eventId: string }) =>
  tx.query(sql.unsafe`
    update goodstanding.billing_events
    set attempts = 0,
        next_attempt_at = null
    where account = ${input.account}
      and event_id = ${input.eventId}
      and processed_at is null
      and dead_letter_at is null
  `)

/** A dead event lives again in a new epoch, with a fresh budget. False where it is not dead in this epoch. */
export const markRevived = async (
  tx: Transaction,
  input: { account: string; eventId: string; epoch: number; jobId: string },
) =>
  changedOne(
    await tx.query(sql.unsafe`
    update goodstanding.billing_events
    set dead_letter_at = null,
        outcome = null,
        epoch = epoch + 1,
        attempts = 0,
        next_attempt_at = null,
        job_id = ${input.jobId}
    where account = ${input.account}
      and event_id = ${input.eventId}
      and epoch = ${input.epoch}
      and dead_letter_at is not null
  `),
  )

/** Closes a dead event as a person says. False where it is not dead in this epoch any more. */
export const markResolved = async (
  tx: Transaction,
  input: {
    account: string
    eventId: string
    epoch: number
    outcome: 'applied' | 'no_change' | 'discarded_by_operator'
  },
) =>
  changedOne(
    await tx.query(sql.unsafe`
    update goodstanding.billing_events
    set dead_letter_at = null,
        processed_at = goodstanding.clock(),
        outcome = ${input.outcome},
        next_attempt_at = null
    where account = ${input.account}
      and event_id = ${input.eventId}
      and epoch = ${input.epoch}
      and dead_letter_at is not null
  `),
  )

// What the column holds (0001_inbox.sql). By code points: half a surrogate is no text.
const ERROR_MAX = 500

const cut = (error: string | null): string | null => {
  const points = Array.from(error ?? '')
  return points.length <= ERROR_MAX ? error : `${points.slice(0, ERROR_MAX - 1).join('')}…`
}
