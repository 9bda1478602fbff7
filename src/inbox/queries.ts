// SQL of the inbox: receiving, duplicates, and what waits.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Queries, Transaction } from '../postgres/pool.ts'
import { WAITING_REASONS } from '../reasons.ts'
import type { Instant } from '../time.ts'

export type NewEvent = {
  account: string
  eventId: string
  source: 'webhook' | 'catchup'
  type: string
  livemode: boolean
  apiVersion: string | null
  createdAt: Instant | null
  deliveries: number
  customerId: string | null
  objectId: string | null
  payload: string
  /** Null where it is settled at once, for `ignoredReason`. */
  jobId: string | null
  ignoredReason: string | null
}

const key = sql.type(z.strictObject({ account: z.string(), event_id: z.string() }))

const timestamp = (at: Instant | null) => (at === null ? null : new Date(at).toISOString())

/** Inserts the events that are new; returns the keys of those. Sorted by key, so that two batches never deadlock. */
export const insertEvents = (tx: Transaction, events: readonly NewEvent[], ackWaitMs: number | null = null) =>
  tx.any(key`
    insert into goodstanding.billing_events
      (account, event_id, source, type, livemode, api_version, stripe_created_at, deliveries, customer_id, object_id, payload,
       job_id, processed_at, outcome, reason, ack_wait_until)
    select
      account, event_id, source, type, livemode, api_version, stripe_created_at, deliveries, customer_id, object_id,
      payload, job_id,
      case when ignored_reason is not null then goodstanding.clock() end,
      case when ignored_reason is not null then 'ignored' end,
      ignored_reason,
      case when ignored_reason is null then goodstanding.clock() + ${ackWaitMs}::float8 * interval '1 millisecond' end
    from ${sql.unnest(
      events.map((event) => [
        event.account,
        event.eventId,
        event.source,
        event.type,
        event.livemode,
        event.apiVersion,
        timestamp(event.createdAt),
        event.deliveries,
        event.customerId,
        event.objectId,
        event.payload,
        event.jobId,
        event.ignoredReason,
      ]),
      [
        'text',
        'text',
        'text',
        'text',
        'bool',
        'text',
        'timestamptz',
        'int4',
        'text',
        'text',
        'text',
        'uuid',
        'text',
      ],
    )} as new (account, event_id, source, type, livemode, api_version, stripe_created_at, deliveries, customer_id, object_id,
               payload, job_id, ignored_reason)
    order by account, event_id
    on conflict (account, event_id) do nothing
    returning account, event_id
  `)

/** Of these events of an account those that are not in the inbox. */
export const findUnseen = (db: Queries, input: { account: string; eventIds: readonly string[] }) =>
  db.anyFirst(sql.type(z.strictObject({ event_id: z.string() }))`
    select asked.event_id
    from unnest(${sql.array([...input.eventIds], 'text')}) as asked (event_id)
    where not exists (
      select 1
      from goodstanding.billing_events event
      where event.account = ${input.account}
        and event.event_id = asked.event_id
    )
  `)

/** Nulls the bodies of events that were settled so long ago; at most `limit`. */
export const forgetBodies = (db: Queries, input: { account: string; olderThanMs: number; limit: number }) =>
  db.query(sql.unsafe`
    update goodstanding.billing_events
    set payload = null
    where (account, event_id) in (
      select account, event_id
      from goodstanding.billing_events
      where account = ${input.account}
        and payload is not null
        and processed_at < goodstanding.clock() - ${input.olderThanMs}::float8 * interval '1 millisecond'
      order by processed_at
      limit ${input.limit}
      for update skip locked
    )
  `)

const pendingFields = {
  account: z.string(),
  event_id: z.string(),
  epoch: z.number(),
  job_id: z.string().nullable(),
  customer_id: z.string().nullable(),
  wait_ms: z.number(),
}
const pendingRow = sql.type(z.strictObject(pendingFields))
const longPendingRow = sql.type(z.strictObject({ ...pendingFields, received_seq: z.number() }))

/** Of the given events those that are pending, with what is needed to send their job again. */
export const findPendingOf = (tx: Transaction, keys: readonly { account: string; eventId: string }[]) =>
  tx.any(pendingRow`
    select event.account, event.event_id, event.epoch, event.job_id, event.customer_id,
      greatest(0, extract(epoch from event.next_attempt_at - goodstanding.clock()) * 1000)::float8 as wait_ms
    from ${unnestKeys(keys)} as asked (account, event_id)
    join goodstanding.billing_events event using (account, event_id)
    where event.processed_at is null
      and event.dead_letter_at is null
  `)

/** Counts one more delivery of each, except of those that somebody holds: a count is not worth waiting for. */
export const countDeliveries = (tx: Transaction, keys: readonly { account: string; eventId: string }[]) =>
  tx.query(sql.unsafe`
    update goodstanding.billing_events event
    set deliveries = deliveries + 1
    where (event.account, event.event_id) in (
      select mine.account, mine.event_id
      from ${unnestKeys(keys)} as asked (account, event_id)
      join goodstanding.billing_events mine using (account, event_id)
      order by mine.account, mine.event_id
      for update of mine skip locked
    )
  `)

const unnestKeys = (keys: readonly { account: string; eventId: string }[]) =>
  sql.unnest(
    keys.map(({ account, eventId }) => [account, eventId]),
    ['text', 'text'],
  )

/** Puts another job in the place of a lost one. False where somebody was faster, or holds the row now. */
export const swapJob = async (
  tx: Transaction,
  input: { account: string; eventId: string; from: string | null; to: string },
): Promise<boolean> =>
  (
    await tx.query(sql.unsafe`
    update goodstanding.billing_events
    set job_id = ${input.to}
    where (account, event_id) in (
      select account, event_id
      from goodstanding.billing_events
      where account = ${input.account}
        and event_id = ${input.eventId}
        and job_id is not distinct from ${input.from}::uuid
        and processed_at is null
        and dead_letter_at is null
      for update skip locked
    )
  `)
  ).rowCount === 1

/** Is anything pending and due (perhaps held by another process)? Accounts that cannot run are left out. */
export const anyDue = (db: Queries, accounts: readonly string[]) =>
  db.oneFirst(sql.type(z.strictObject({ due: z.boolean() }))`
    select exists (
      select 1
      from goodstanding.billing_events
      where processed_at is null
        and dead_letter_at is null
        and account = any(${sql.array([...accounts], 'text')})
        and (next_attempt_at is null or next_attempt_at <= goodstanding.clock())
    ) as due
  `)

/** Age in milliseconds of the oldest pending event, deferred ones apart; null where there is none. */
export const oldestPendingAge = (db: Queries) =>
  db.oneFirst(sql.type(z.strictObject({ age_ms: z.number().nullable() }))`
    select (extract(epoch from goodstanding.clock() - min(received_at)) * 1000)::float8 as age_ms
    from goodstanding.billing_events
    where processed_at is null
      and dead_letter_at is null
      and coalesce(reason, '') <> all(${sql.array([...WAITING_REASONS], 'text')})
  `)

/** Pending events that have waited long enough for their job to be looked for, oldest first, after `afterSeq`. */
export const findLongPending = (
  db: Queries,
  input: { account: string; olderThanMs: number; afterSeq: number; limit: number },
) =>
  db.any(longPendingRow`
    select account, event_id, epoch, job_id, customer_id, received_seq,
      greatest(0, extract(epoch from next_attempt_at - goodstanding.clock()) * 1000)::float8 as wait_ms
    from goodstanding.billing_events
    where processed_at is null
      and dead_letter_at is null
      and account = ${input.account}
      and received_at < goodstanding.clock() - ${input.olderThanMs}::float8 * interval '1 millisecond'
      and received_seq > ${input.afterSeq}
    order by received_seq
    limit ${input.limit}
  `)
