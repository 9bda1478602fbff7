// SQL of acknowledging after the effect: the stamp that says "somebody waits for this one", and what became of it.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Queries, Transaction } from '../postgres/pool.ts'

export type EventKey = { account: string; eventId: string }

const keys = (events: readonly EventKey[]) =>
  sql.unnest(
    events.map(({ account, eventId }) => [account, eventId]),
    ['text', 'text'],
  )

/** How the last attempt of `event` ended. */
const lastOutcome = sql.fragment`
  (
    select attempt.outcome
    from goodstanding.event_attempts attempt
    where attempt.account = event.account
      and attempt.event_id = event.event_id
      and attempt.epoch = event.epoch
    order by attempt.attempt_id desc
    limit 1
  ) as last`
const last = z.enum(['done', 'retry', 'deferred', 'postponed', 'dead']).nullable()

const stateRow = sql.type(
  z.strictObject({
    account: z.string(),
    event_id: z.string(),
    settled: z.boolean(),
    /** Does the stamp of the delivery that waits still stand? */
    stamped: z.boolean(),
    /** How the last attempt ended; null before the first. */
    last,
  }),
)
export type AckState = Awaited<ReturnType<typeof findAckStates>>[number]

/** What became of these events. */
export const findAckStates = (db: Queries, events: readonly EventKey[]) =>
  db.any(stateRow`
    select event.account, event.event_id,
      event.processed_at is not null or event.dead_letter_at is not null as settled,
      event.ack_wait_until is not null as stamped,
      ${lastOutcome}
    from ${keys(events)} as asked (account, event_id)
    join goodstanding.billing_events event using (account, event_id)
  `)

const joinRow = sql.type(
  z.strictObject({
    settled: z.boolean(),
    /** Due only after so long. */
    wait_ms: z.number(),
    last,
    job_id: z.string().nullable(),
  }),
)

/** An event that was received before, as another delivery of it finds it. */
export const findForJoin = (tx: Transaction, { account, eventId }: EventKey) =>
  tx.maybeOne(joinRow`
    select event.processed_at is not null or event.dead_letter_at is not null as settled,
      greatest(0, coalesce(extract(epoch from event.next_attempt_at - goodstanding.clock()) * 1000, 0))::float8
        as wait_ms,
      ${lastOutcome},
      event.job_id
    from goodstanding.billing_events event
    where event.account = ${account}
      and event.event_id = ${eventId}
  `)

/**
 * This delivery waits for the event from now on; `dueNow`: its next try is due at once. False where another delivery was
 * faster, or the row is held just now.
 */
export const stampWait = async (
  tx: Transaction,
  { account, eventId, waitMs, dueNow }: EventKey & { waitMs: number; dueNow: boolean },
): Promise<boolean> =>
  (
    await tx.query(sql.unsafe`
    update goodstanding.billing_events
    set ack_wait_until = goodstanding.clock() + ${waitMs}::float8 * interval '1 millisecond',
        next_attempt_at = case when ${dueNow} then goodstanding.clock() else next_attempt_at end
    where (account, event_id) in (
      select account, event_id
      from goodstanding.billing_events
      where account = ${account}
        and event_id = ${eventId}
        and processed_at is null
        and dead_letter_at is null
        and coalesce(ack_wait_until <= goodstanding.clock(), true)
      for update skip locked
    )
  `)
  ).rowCount === 1
