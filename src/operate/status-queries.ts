// SQL of the state of everything at a glance: accounts, sweeps, workers, findings, holds of revocations.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Queries } from '../postgres/pool.ts'
import { WAITING_REASONS } from '../reasons.ts'

const at = z.number().nullable()

const accountRow = sql.type(
  z.strictObject({
    account: z.string(),
    livemode: z.boolean().nullable(),
    hold: z.boolean(),
    pause_cause: z.string().nullable(),
    stopped_since: at,
    probe_at: at,
    pending: z.number(),
    deferred: z.number(),
    ready: z.number(),
    dead: z.number(),
    oldest_ready_at: at,
    max_attempts: z.number(),
    received_last_minute: z.number(),
    processed_last_minute: z.number(),
    last_received_at: at,
    now: z.number(),
  }),
)

/**
 * Each account: whether it runs, what waits, what is dead. `deferred` wait for something by rule and are no delay;
 * `ready` are due and no such.
 */
export const accountStates = (db: Queries) =>
  db.any(accountRow`
    select account.account, account.livemode, account.hold, account.pause_cause, account.stopped_since,
      account.probe_at, events.pending, events.deferred, events.ready, events.dead, events.oldest_ready_at,
      events.max_attempts, lately.received_last_minute, lately.processed_last_minute, newest.last_received_at,
      goodstanding.clock() as now
    from goodstanding.accounts account
    cross join lateral (
      select
        count(*) filter (where open)::int as pending,
        count(*) filter (where open and deferred)::int as deferred,
        count(*) filter (where open and due and not deferred)::int as ready,
        count(*) filter (where not open)::int as dead,
        min(received_at) filter (where open and due and not deferred) as oldest_ready_at,
        coalesce(max(attempts) filter (where open), 0)::int as max_attempts
      from (
        select
          event.dead_letter_at is null as open,
          coalesce(event.next_attempt_at <= goodstanding.clock(), true) as due,
          coalesce(event.reason = any(${sql.array([...WAITING_REASONS], 'text')}), false) as deferred,
          event.received_at,
          event.attempts
        from (
          -- Each by the index that it has: processed rows are never looked at.
          select * from goodstanding.billing_events where processed_at is null and dead_letter_at is null
          union all
          select * from goodstanding.billing_events where dead_letter_at is not null
        ) event
        where event.account = account.account
      ) known
    ) events
    cross join lateral (
      select
        (
          select count(*)
          from goodstanding.billing_events recent
          where recent.account = account.account
            and recent.received_at > goodstanding.clock() - interval '1 minute'
        )::int as received_last_minute,
        (
          select count(*)
          from goodstanding.billing_events recent
          where recent.account = account.account
            and recent.processed_at > goodstanding.clock() - interval '1 minute'
            -- Always so of late, and there is an index for it.
            and recent.payload is not null
        )::int as processed_last_minute
    ) lately
    cross join lateral (
      select max(event.received_at) as last_received_at
      from goodstanding.billing_events event
      where event.account = account.account
    ) newest
    order by account.account
  `)

export type AccountState = Awaited<ReturnType<typeof accountStates>>[number]

const sweepRow = sql.type(
  z.strictObject({
    account: z.string(),
    name: z.string(),
    due_at: z.number(),
    ended_at: at,
    failures: z.number(),
    last_error: z.string().nullable(),
    result: z.unknown(),
  }),
)

/** The last run of every sweep. */
export const lastSweeps = (db: Queries) =>
  db.any(sweepRow`
    select account, name, due_at, ended_at, failures, last_error, result
    from goodstanding.sweeps
    order by account, name
  `)

const workerRow = sql.type(
  z.strictObject({
    worker: z.string(),
    version: z.string(),
    started_at: z.number(),
    seen_at: z.number(),
    alive: z.boolean(),
  }),
)

/** Worker processes that were seen within a day; alive: within half a minute. */
export const listWorkers = (db: Queries) =>
  db.any(workerRow`
    select worker, version, started_at, seen_at, seen_at > clock_timestamp() - interval '30 seconds' as alive
    from goodstanding.workers
    order by seen_at desc
  `)

/** Transactions that workers hold open now: attempts under way, and the glance for the next one. */
export const countActive = (db: Queries) =>
  db.oneFirst(sql.type(z.strictObject({ active: z.number() }))`
    select count(*)::int as active
    from pg_stat_activity
    where datname = current_database()
      and application_name = 'goodstanding-work'
      and xact_start < clock_timestamp() - interval '20 milliseconds'
  `)

const findingCount = sql.type(z.strictObject({ account: z.string(), code: z.string(), open: z.number() }))

/** Open findings that nobody acknowledged. */
export const countFindings = (db: Queries) =>
  db.any(findingCount`
    select account, code, count(*)::int as open
    from goodstanding.findings
    where resolved_at is null
      and acked_at is null
    group by account, code
    order by account, code
  `)

/** Now, by the database's own clock. */
export const readWallClock = (db: Queries) =>
  db.oneFirst(sql.type(z.strictObject({ now: z.number() }))`select clock_timestamp() as now`)

/** How many customers differed in the last comparison of each account. */
export const countDrift = (db: Queries) =>
  db.any(sql.type(z.strictObject({ account: z.string(), differences: z.number() }))`
    select run.account, (
      select count(*) from goodstanding.drift_items item where item.run_id = run.run_id
    )::int as differences
    from (
      select account, max(run_id) as run_id
      from goodstanding.drift_runs
      group by account
    ) run
    order by run.account
  `)
