// SQL of the drift sweep: what we believe of an account as a whole, and the runs that compared it with Stripe.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Queries, Transaction } from '../postgres/pool.ts'

const knownRow = sql.type(
  z.strictObject({
    customer_id: z.string(),
    tenant_id: z.string().nullable(),
    taken_from: z.string().nullable(),
    in_flight: z.boolean(),
  }),
)

/** Of these customers those that we know: their tenant, and whether an event of theirs is about to be worked. */
export const findKnown = (db: Queries, input: { account: string; customerIds: readonly string[] }) =>
  db.any(knownRow`
    select customer.customer_id, customer.tenant_id, customer.taken_from,
      exists (
        select 1
        from goodstanding.billing_events event
        where event.account = customer.account
          and event.customer_id = customer.customer_id
          and event.processed_at is null
          and event.dead_letter_at is null
          and event.next_attempt_at is null
      ) as in_flight
    from goodstanding.customers customer
    where customer.account = ${input.account}
      and customer.customer_id = any(${sql.array([...input.customerIds], 'text')})
  `)

const ofUs = sql.type(z.strictObject({ customer_id: z.string(), subscription_id: z.string() }))

/** Subscriptions of linked customers that we believe to live, a page by id. */
export const believedLive = (db: Queries, input: { account: string; after: string; limit: number }) =>
  db.any(ofUs`
    select customer.customer_id, subscription.subscription_id
    from goodstanding.subscriptions subscription
    join goodstanding.customers customer
      on customer.account = subscription.account
      and customer.customer_id = subscription.customer_id
    where subscription.account = ${input.account}
      and subscription.status not in ('canceled', 'incomplete_expired')
      and customer.tenant_id is not null
      and subscription.subscription_id > ${input.after}
    order by subscription.subscription_id
    limit ${input.limit}
  `)

/** Access that comes from a subscription which we believe to be over, or do not know. */
export const baseless = (db: Queries, input: { account: string; limit: number }) =>
  db.any(ofUs`
    select distinct entitlement.customer_id, entitlement.subscription_id
    from goodstanding.entitlements entitlement
    left join goodstanding.subscriptions subscription
      on subscription.account = entitlement.account
      and subscription.subscription_id = entitlement.subscription_id
    where entitlement.account = ${input.account}
      and entitlement.granted
      and coalesce(subscription.status in ('canceled', 'incomplete_expired'), true)
    limit ${input.limit}
  `)

/** Tenants of an account. */
export const countTenants = (db: Queries, account: string) =>
  db.oneFirst(sql.type(z.strictObject({ count: z.number() }))`
    select count(*)::int as count
    from goodstanding.customers
    where account = ${account}
      and tenant_id is not null
  `)

const runRow = sql.type(
  z.strictObject({
    run_id: z.number(),
    account: z.string(),
    started_at: z.number(),
    ended_at: z.number(),
    compared: z.number(),
    gains: z.number(),
    losses: z.number(),
    budget: z.number(),
    state: z.enum(['done', 'waiting', 'approved', 'superseded']),
    approved_by: z.string().nullable(),
  }),
)

const runColumns = sql.fragment`
  run_id, account, started_at, ended_at, compared, gains, losses, budget, state, approved_by`

/** Records a run; older ones of the account that still wait are superseded by it. */
export const insertRun = async (
  tx: Transaction,
  run: {
    account: string
    tookMs: number
    compared: number
    gains: number
    losses: number
    budget: number
    waits: boolean
  },
) => {
  await tx.query(sql.unsafe`
    update goodstanding.drift_runs
    set state = 'superseded'
    where account = ${run.account}
      and state = 'waiting'
  `)
  return tx.one(runRow`
    insert into goodstanding.drift_runs (account, started_at, ended_at, compared, gains, losses, budget, state)
    values (${run.account}, clock_timestamp() - ${run.tookMs}::float8 * interval '1 millisecond', clock_timestamp(),
            ${run.compared}, ${run.gains}, ${run.losses}, ${run.budget}, ${run.waits ? 'waiting' : 'done'})
    returning ${runColumns}
  `)
}

export type DriftItem = {
  customerId: string
  kind: string
  detail: Record<string, unknown>
  loses: boolean
  healed: boolean
}

/** The disagreements of a run. */
export const insertItems = (tx: Transaction, runId: number, items: readonly DriftItem[]) =>
  tx.query(sql.unsafe`
    insert into goodstanding.drift_items (run_id, customer_id, kind, detail, loses, healed_at)
    select ${runId}, customer_id, kind, detail, loses, case when healed then clock_timestamp() end
    from jsonb_to_recordset(${sql.jsonb(
      items.map(({ customerId, ...item }) => ({ ...item, customer_id: customerId })) as never,
    )}) as item (customer_id text, kind text, detail jsonb, loses boolean, healed boolean)
    on conflict do nothing
  `)

/** Runs, newest first. */
export const listRuns = (db: Queries, limit: number) =>
  db.any(runRow`
    select ${runColumns}
    from goodstanding.drift_runs
    order by run_id desc
    limit ${limit}
  `)

export type DriftRun = Awaited<ReturnType<typeof listRuns>>[number]

const itemRow = sql.type(
  z.strictObject({
    customer_id: z.string(),
    kind: z.string(),
    detail: z.record(z.string(), z.unknown()),
    loses: z.boolean(),
    healed_at: z.number().nullable(),
  }),
)

/** One run; null where there is none. */
export const findRun = (db: Queries, runId: number) =>
  db.maybeOne(runRow`
    select ${runColumns}
    from goodstanding.drift_runs
    where run_id = ${runId}
  `)

/** The disagreements of a run, those who would lose access first. */
export const itemsOf = (db: Queries, runId: number) =>
  db.any(itemRow`
    select customer_id, kind, detail, loses, healed_at
    from goodstanding.drift_items
    where run_id = ${runId}
    order by loses desc, customer_id
  `)

/** Waiting -> approved. Null where it does not wait (any more). */
export const approveRun = (tx: Transaction, input: { runId: number; operator: string }) =>
  tx.maybeOne(runRow`
    update goodstanding.drift_runs
    set state = 'approved',
        approved_by = ${input.operator}
    where run_id = ${input.runId}
      and state = 'waiting'
    returning ${runColumns}
  `)

/** Takes the disagreements of a run that were not followed yet. */
export const takeUnhealed = (tx: Transaction, runId: number) =>
  tx.anyFirst(sql.type(z.strictObject({ customer_id: z.string() }))`
    update goodstanding.drift_items
    set healed_at = clock_timestamp()
    where run_id = ${runId}
      and healed_at is null
    returning customer_id
  `)
