// Writes what became of an attempt, by compare-and-set on the row as it was claimed: 0 rows means that somebody else
// settled it, and then everything this attempt did is undone.
import { randomUUID } from 'node:crypto'
import { insertAudit } from '../audit/queries.ts'
import type { WorkerContext } from '../context.ts'
import { AppError } from '../errors.ts'
import { DEAD_QUEUE, eventQueue, groupOf } from '../jobs.ts'
import type { Outcome } from '../outcome.ts'
import type { Transaction } from '../postgres/pool.ts'
import type { Claim } from '../postgres/queue.ts'
import { backoffMs, HOUR_MS, MINUTE_MS, SECOND_MS, type Backoff, type Instant } from '../time.ts'
import {
  insertAttempt,
  markDead,
  markProcessed,
  markRerouted,
  markWaiting,
  type EventRow,
  type Fence,
} from './attempt-queries.ts'
import { eventJobOf } from './store.ts'

/** Dead letter after this many counted attempts in an epoch. */
export const ATTEMPTS_MAX = 12
/** By then a person should know (rules.md section 7). */
export const ALERT_AT_ATTEMPT = 5

const EVENT_BACKOFF: Backoff = { baseMs: 5 * SECOND_MS, capMs: HOUR_MS }
const DEFERRED_BACKOFF: Backoff = { baseMs: MINUTE_MS, capMs: HOUR_MS }

export type Settled = 'applied' | 'ignored' | 'deferred' | 'retried' | 'postponed' | 'dead' | 'rerouted'

export type SettleParts = Pick<WorkerContext, 'queue' | 'worker' | 'version'>

/** An attempt as it was claimed. `claimed` is false where the claim was rolled back and the job only waits. */
export type AttemptedEvent = { event: EventRow; claim: Claim; claimed: boolean; startedAt: Instant }

/** Settles an attempt. Throws `inbox/lost_race` where the row is not as it was claimed. */
export const settle = async (
  parts: SettleParts,
  tx: Transaction,
  attempt: AttemptedEvent,
  outcome: Outcome,
): Promise<Settled> => {
  switch (outcome.kind) {
    case 'done':
      must(await markProcessed(tx, fenceOf(attempt), outcome.processed, outcome.reason))
      await record(parts, tx, attempt, 'done', outcome.reason)
      await endJob(parts, tx, attempt, { code: outcome.reason ?? outcome.processed })
      return outcome.processed === 'ignored' ? 'ignored' : 'applied'
    case 'retry':
    case 'deferred':
      return attempt.event.attempts + 1 >= ATTEMPTS_MAX
        ? bury(parts, tx, attempt, {
            outcome: 'attempts_exhausted',
            reason: outcome.reason,
            error: outcome.error,
          })
        : wait(parts, tx, attempt, outcome)
    case 'postponed':
      return postpone(parts, tx, attempt, outcome)
    case 'permanent':
      return bury(parts, tx, attempt, { outcome: 'permanent', reason: outcome.reason, error: outcome.error })
    case 'rerouted':
      return reroute(parts, tx, attempt, outcome.customerId)
  }
}

const fenceOf = ({ event, claim }: AttemptedEvent): Fence => ({
  account: event.account,
  eventId: event.event_id,
  epoch: event.epoch,
  jobId: claim.id,
  attempts: event.attempts,
})

const must = (changed: boolean) => {
  if (!changed) throw new AppError('inbox/lost_race')
}

const record = (
  parts: SettleParts,
  tx: Transaction,
  { event, startedAt }: AttemptedEvent,
  outcome: string,
  code: string | null,
) =>
  insertAttempt(tx, {
    account: event.account,
    eventId: event.event_id,
    epoch: event.epoch,
    startedAt,
    outcome,
    code,
    worker: parts.worker,
    version: parts.version,
  })

const endJob = async (
  { queue }: SettleParts,
  tx: Transaction,
  { claim, claimed }: AttemptedEvent,
  output: object,
) => {
  if (claimed) await queue.complete(tx, claim, output)
  else await queue.completeQueued(tx, claim.queue, claim.id, output)
}

const wait = async (
  parts: SettleParts,
  tx: Transaction,
  attempt: AttemptedEvent,
  outcome: Extract<Outcome, { kind: 'retry' | 'deferred' }>,
): Promise<Settled> => {
  const backoff = outcome.kind === 'deferred' ? DEFERRED_BACKOFF : EVENT_BACKOFF
  const delayMs = backoffMs(backoff, attempt.event.attempts + 1, Math.random())
  const { claim } = attempt
  must(
    await markWaiting(tx, fenceOf(attempt), {
      reason: outcome.reason,
      error: outcome.error,
      counts: true,
      delayMs,
      jobId: claim.id,
    }),
  )
  await record(parts, tx, attempt, outcome.kind, outcome.reason)
  if (attempt.claimed) await parts.queue.retry(tx, claim, outcome.reason, delayMs)
  else await parts.queue.reschedule(tx, claim.queue, claim.id, delayMs)
  if (outcome.kind === 'deferred') await audit(tx, attempt, 'deferred', outcome.reason)
  return outcome.kind === 'deferred' ? 'deferred' : 'retried'
}

// A new job, so that the queue's own count of tries says nothing about Stripe's outages.
const postpone = async (
  parts: SettleParts,
  tx: Transaction,
  attempt: AttemptedEvent,
  outcome: Extract<Outcome, { kind: 'postponed' }>,
): Promise<Settled> => {
  const { event } = attempt
  const id = randomUUID()
  must(
    await markWaiting(tx, fenceOf(attempt), {
      reason: outcome.reason,
      error: outcome.error,
      counts: false,
      delayMs: outcome.delayMs,
      jobId: id,
    }),
  )
  await record(parts, tx, attempt, 'postponed', outcome.reason)
  await endJob(parts, tx, attempt, { code: outcome.reason })
  await sendEvent(parts, tx, { event, customerId: event.customer_id, id, startAfterMs: outcome.delayMs })
  return 'postponed'
}

const reroute = async (
  parts: SettleParts,
  tx: Transaction,
  attempt: AttemptedEvent,
  customerId: string,
): Promise<Settled> => {
  const id = randomUUID()
  must(await markRerouted(tx, fenceOf(attempt), { customerId, jobId: id }))
  await endJob(parts, tx, attempt, { code: 'rerouted' })
  await sendEvent(parts, tx, { event: attempt.event, customerId, id, startAfterMs: 0 })
  return 'rerouted'
}

const sendEvent = async (
  { queue }: SettleParts,
  tx: Transaction,
  send: { event: EventRow; customerId: string | null; id: string; startAfterMs: number },
) => {
  const { account, event_id: eventId, epoch } = send.event
  const job = eventJobOf({ account, eventId, epoch, customerId: send.customerId })
  await queue.enqueue(tx, eventQueue(account), [{ ...job, id: send.id, startAfterMs: send.startAfterMs }])
}

const bury = async (
  parts: SettleParts,
  tx: Transaction,
  attempt: AttemptedEvent,
  dead: { outcome: 'permanent' | 'attempts_exhausted'; reason: string; error: string | null },
): Promise<Settled> => {
  const { event } = attempt
  const deadJobId = randomUUID()
  must(await markDead(tx, fenceOf(attempt), { ...dead, deadJobId }))
  await record(parts, tx, attempt, 'dead', dead.reason)
  await endJob(parts, tx, attempt, { code: dead.reason })
  const group = groupOf(event.account, event.customer_id, event.event_id)
  const data = { account: event.account, eventId: event.event_id, epoch: event.epoch, reason: dead.reason }
  await parts.queue.enqueue(tx, DEAD_QUEUE, [{ id: deadJobId, data, group }])
  await audit(tx, attempt, 'quarantined', dead.reason)
  return 'dead'
}

const audit = (
  tx: Transaction,
  { event }: AttemptedEvent,
  kind: 'deferred' | 'quarantined',
  reason: string,
) =>
  insertAudit(tx, {
    account: event.account,
    eventId: event.event_id,
    epoch: event.epoch,
    customerId: event.customer_id,
    subscriptionId: null,
    kind,
    reason,
    detail: null,
  })
