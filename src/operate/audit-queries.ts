// SQL of the trail for auditors, and of pg-boss's queues for whoever asks how they do.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Queries } from '../postgres/pool.ts'

const text = z.string().nullable()
const json = z.record(z.string(), z.unknown()).nullable()

type Window = { since?: string | undefined; until?: string | undefined; limit: number }

const actionRow = sql.type(
  z.strictObject({
    id: z.number(),
    at: z.number(),
    operator: z.string(),
    reason: z.string(),
    verb: z.string(),
    target: z.string(),
    before: json,
    after: json,
  }),
)

const actionColumns = sql.fragment`action_id as id, at, operator, reason, verb, target, before, after`

const within = ({ since, until }: Window) => sql.fragment`
  at >= coalesce(${since ?? null}::timestamptz, '-infinity')
  and at < coalesce(${until ?? null}::timestamptz, 'infinity')`

/** What people did, newest first. */
export const listActions = (db: Queries, window: Window) =>
  db.any(actionRow`
    select ${actionColumns}
    from goodstanding.operator_actions
    where ${within(window)}
    order by action_id desc
    limit ${window.limit}
  `)

/** The same, oldest first, after one that was seen. */
export const nextActions = (db: Queries, window: Window & { after: number }) =>
  db.any(actionRow`
    select ${actionColumns}
    from goodstanding.operator_actions
    where ${within(window)}
      and action_id > ${window.after}
    order by action_id
    limit ${window.limit}
  `)

const trailRow = sql.type(
  z.strictObject({
    id: z.number(),
    at: z.number(),
    account: z.string(),
    event_id: text,
    epoch: z.number().nullable(),
    customer_id: text,
    subscription_id: text,
    kind: z.string(),
    reason: text,
    detail: json,
  }),
)

/** What the program did, oldest first, after one that was seen. */
export const nextTrail = (db: Queries, window: Window & { after: number }) =>
  db.any(trailRow`
    select audit_id as id, at, account, event_id, epoch, customer_id, subscription_id, kind, reason, detail
    from goodstanding.billing_audit
    where ${within(window)}
      and audit_id > ${window.after}
    order by audit_id
    limit ${window.limit}
  `)

const queueRow = sql.type(
  z.strictObject({
    queue: z.string(),
    waiting: z.number(),
    due: z.number(),
    active: z.number(),
    retried: z.number(),
    failed: z.number(),
    done: z.number(),
    oldest_due_at: z.number().nullable(),
  }),
)

/** Each queue of pg-boss: jobs by state, and since when the oldest due one waits. */
export const queueFigures = (db: Queries) =>
  db.any(queueRow`
    select queue.name as queue,
      count(job.id) filter (where job.state in ('created', 'retry'))::int as waiting,
      count(job.id) filter (where job.state in ('created', 'retry') and job.start_after <= now())::int as due,
      count(job.id) filter (where job.state = 'active')::int as active,
      count(job.id) filter (where job.retry_count > 0)::int as retried,
      count(job.id) filter (where job.state = 'failed')::int as failed,
      count(job.id) filter (where job.state = 'completed')::int as done,
      min(job.start_after) filter (where job.state in ('created', 'retry') and job.start_after <= now())
        as oldest_due_at
    from pgboss.queue queue
    left join pgboss.job job on job.name = queue.name
    group by queue.name
    order by queue.name
  `)
