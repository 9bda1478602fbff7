// SQL of what operators look at: the state of each account, events with their attempts, dead letters.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Queries } from '../postgres/pool.ts'

const at = z.number().nullable()

const accountRow = sql.type(
  z.strictObject({
    account: z.string(),
    hold: z.boolean(),
    pause_cause: z.string().nullable(),
    stopped_since: at,
    probe_at: at,
    pending: z.number(),
    deferred: z.number(),
    due: z.number(),
    dead: z.number(),
    oldest_due_at: at,
    last_received_at: at,
    now: z.number(),
  }),
)

/** Each account: whether it runs, what waits, what is dead. Deferred are those that wait for something by rule. */
export const accountStates = (db: Queries) =>
  db.any(accountRow`
    select account.account, account.hold, account.pause_cause, account.stopped_since, account.probe_at,
      events.pending, events.deferred, events.due, events.dead, events.oldest_due_at, events.last_received_at,
      goodstanding.clock() as now
    from goodstanding.accounts account
    cross join lateral (
      select
        count(*) filter (where open)::int as pending,
        count(*) filter (where open and deferred)::int as deferred,
        count(*) filter (where open and due)::int as due,
        count(*) filter (where dead)::int as dead,
        min(received_at) filter (where open and due) as oldest_due_at,
        (
          select max(received_at) from goodstanding.billing_events newest where newest.account = account.account
        ) as last_received_at
      from (
        select
          event.processed_at is null and event.dead_letter_at is null as open,
          event.dead_letter_at is not null as dead,
          coalesce(event.next_attempt_at <= goodstanding.clock(), true) as due,
          coalesce(event.reason, '') in
            ('customer_not_linked', 'unmapped_stripe_price', 'subscription_not_linked', 'stripe_price_config_missing')
            as deferred,
          event.received_at
        from goodstanding.billing_events event
        where event.account = account.account
          and event.processed_at is null
      ) known
    ) events
    order by account.account
  `)

const sweepRow = sql.type(
  z.strictObject({
    account: z.string(),
    name: z.string(),
    ended_at: at,
    failures: z.number(),
    last_error: z.string().nullable(),
    result: z.unknown(),
  }),
)

export const lastSweeps = (db: Queries) =>
  db.any(sweepRow`
    select account, name, ended_at, failures, last_error, result
    from goodstanding.sweeps
    order by account, name
  `)

const shown = z.strictObject({
  account: z.string(),
  event_id: z.string(),
  type: z.string(),
  source: z.string(),
  customer_id: z.string().nullable(),
  object_id: z.string().nullable(),
  status: z.enum(['pending', 'processed', 'dead']),
  outcome: z.string().nullable(),
  reason: z.string().nullable(),
  epoch: z.number(),
  attempts: z.number(),
  received_at: z.number(),
  processed_at: at,
  dead_letter_at: at,
  next_attempt_at: at,
  last_error: z.string().nullable(),
  job_id: z.string().nullable(),
})
export type ShownEvent = z.infer<typeof shown>
const eventRow = sql.type(shown)

const shownColumns = sql.fragment`
  account, event_id, type, source, customer_id, object_id,
  case when processed_at is not null then 'processed' when dead_letter_at is not null then 'dead' else 'pending' end
    as status,
  outcome, reason, epoch, attempts, received_at, processed_at, dead_letter_at, next_attempt_at, last_error, job_id`

/** The event by its id; several where accounts share it. */
export const findShown = (db: Queries, eventId: string) =>
  db.any(eventRow`
    select ${shownColumns}
    from goodstanding.billing_events
    where event_id = ${eventId}
    order by account
  `)

/** Dead letters, newest first. */
export const listDead = (db: Queries, limit: number) =>
  db.any(eventRow`
    select ${shownColumns}
    from goodstanding.billing_events
    where dead_letter_at is not null
    order by dead_letter_at desc
    limit ${limit}
  `)

const attemptRow = sql.type(
  z.strictObject({
    epoch: z.number(),
    started_at: z.number(),
    outcome: z.string(),
    code: z.string().nullable(),
  }),
)

/** All attempts of an event, of all epochs, oldest first. */
export const attemptsOf = (db: Queries, input: { account: string; eventId: string }) =>
  db.any(attemptRow`
    select epoch, started_at, outcome, code
    from goodstanding.event_attempts
    where account = ${input.account}
      and event_id = ${input.eventId}
    order by attempt_id
  `)
