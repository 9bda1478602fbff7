// SQL of what operators look at of the inbox: events with their attempts and trail, dead letters and their groups.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Queries } from '../postgres/pool.ts'

const at = z.number().nullable()

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
  now: z.number(),
})
export type ShownEvent = z.infer<typeof shown>
const eventRow = sql.type(shown)

const shownColumns = sql.fragment`
  account, event_id, type, source, customer_id, object_id,
  case when processed_at is not null then 'processed' when dead_letter_at is not null then 'dead' else 'pending' end
    as status,
  outcome, reason, epoch, attempts, received_at, processed_at, dead_letter_at, next_attempt_at, last_error, job_id,
  goodstanding.clock() as now`

/** The event by its id; several where accounts share it. */
export const findShown = (db: Queries, eventId: string) =>
  db.any(eventRow`
    select ${shownColumns}
    from goodstanding.billing_events
    where event_id = ${eventId}
    order by account
  `)

export type EventFilter = {
  account?: string | undefined
  customer?: string | undefined
  type?: string | undefined
  reason?: string | undefined
  state?: 'pending' | 'processed' | 'dead' | undefined
  /** Received since. */
  since?: string | undefined
  limit: number
}

const STATES = {
  pending: sql.fragment`processed_at is null and dead_letter_at is null`,
  processed: sql.fragment`processed_at is not null`,
  dead: sql.fragment`dead_letter_at is not null`,
} as const

/** Events that match, newest first. */
export const listEvents = (db: Queries, filter: EventFilter) =>
  db.any(eventRow`
    select ${shownColumns}
    from goodstanding.billing_events
    where ${filter.state === undefined ? sql.fragment`true` : STATES[filter.state]}
      and account = coalesce(${filter.account ?? null}, account)
      and (${filter.customer ?? null}::text is null or customer_id = ${filter.customer ?? null})
      and type = coalesce(${filter.type ?? null}, type)
      and (${filter.reason ?? null}::text is null or reason = ${filter.reason ?? null})
      and received_at >= coalesce(${filter.since ?? null}::timestamptz, '-infinity')
    order by coalesce(dead_letter_at, received_at) desc, received_seq desc
    limit ${filter.limit}
  `)

const groupRow = sql.type(
  z.strictObject({
    account: z.string(),
    reason: z.string(),
    type: z.string(),
    dead: z.number(),
    customers: z.number(),
    oldest_at: z.number(),
    newest_at: z.number(),
    example: z.string(),
  }),
)

/** Dead letters that died of the same thing, the largest group first. */
export const groupDead = (db: Queries) =>
  db.any(groupRow`
    select account, reason, type, count(*)::int as dead, count(distinct customer_id)::int as customers,
      min(dead_letter_at) as oldest_at, max(dead_letter_at) as newest_at, min(event_id) as example
    from goodstanding.billing_events
    where dead_letter_at is not null
    group by account, reason, type
    order by count(*) desc, account, reason, type
  `)

/** The body of an event, as it was signed; null where it is gone. */
export const findPayload = (db: Queries, input: { account: string; eventId: string }) =>
  db.maybeOneFirst(sql.type(z.strictObject({ payload: z.string().nullable() }))`
    select payload
    from goodstanding.billing_events
    where account = ${input.account}
      and event_id = ${input.eventId}
  `)

const trailRow = sql.type(
  z.strictObject({
    at: z.number(),
    kind: z.string(),
    reason: z.string().nullable(),
    epoch: z.number().nullable(),
    by: z.string().nullable(),
  }),
)

/** What was recorded of an event, of all its lives, oldest first; `by`: the person, where one did it. */
export const trailOf = (db: Queries, input: { account: string; eventId: string }) =>
  db.any(trailRow`
    select at, kind, reason, epoch, null as by
    from goodstanding.billing_audit
    where account = ${input.account}
      and event_id = ${input.eventId}
    union all
    select at, verb, reason, null, operator
    from goodstanding.operator_actions
    where target = ${`${input.account} ${input.eventId}`}
    order by at
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

/** When Stripe made an event. */
export const findCreatedAt = (db: Queries, input: { account: string; eventId: string }) =>
  db.maybeOneFirst(sql.type(z.strictObject({ at }))`
    select stripe_created_at as at
    from goodstanding.billing_events
    where account = ${input.account}
      and event_id = ${input.eventId}
  `)

const statusCount = sql.type(
  z.strictObject({
    processed: z.number(),
    ignored: z.number(),
    pending: z.number(),
    dead: z.number(),
    caught_up: z.number(),
  }),
)

/** The events of a time (by when Stripe made them) by what became of them; `caught_up`: found missing and fetched. */
export const countByStatus = (
  db: Queries,
  input: { account: string; from: string | null; through: string | null },
) =>
  db.one(statusCount`
    select
      count(*) filter (where processed_at is not null and outcome <> 'ignored')::int as processed,
      count(*) filter (where outcome = 'ignored')::int as ignored,
      count(*) filter (where processed_at is null and dead_letter_at is null)::int as pending,
      count(*) filter (where dead_letter_at is not null)::int as dead,
      count(*) filter (where source = 'catchup')::int as caught_up
    from goodstanding.billing_events
    where account = ${input.account}
      and stripe_created_at >= ${input.from}::timestamptz
      and stripe_created_at <= ${input.through}::timestamptz
  `)
