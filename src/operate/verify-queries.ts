// SQL of the auditor: what must hold of the whole database at any time, each as a query for what contradicts it.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Queries } from '../postgres/pool.ts'

const violation = sql.type(z.strictObject({ subject: z.string(), what: z.string() }))

/** More of the same say nothing new. */
const LIMIT = sql.fragment`limit 20`

/** Pending rows older than two runs of the sweep for lost jobs, of accounts that run, whose job is gone. */
export const withoutJob = (db: Queries) =>
  db.any(violation`
    select event.account || ' ' || event.event_id as subject,
      'pending since ' || event.received_at || ', and its job is gone' as what
    from goodstanding.billing_events event
    join goodstanding.accounts account
      on account.account = event.account
      and not account.hold
      and account.paused_since is null
    where event.processed_at is null
      and event.dead_letter_at is null
      and event.received_at < goodstanding.clock() - interval '3 minutes'
      and not exists (
        select 1
        from pgboss.job job
        where job.name = 'billing.event.' || event.account
          and job.id = event.job_id
          and job.state in ('created', 'retry', 'active')
      )
    ${LIMIT}
  `)

/** Lives of an event that were settled more than once. */
export const settledTwice = (db: Queries) =>
  db.any(violation`
    select account || ' ' || event_id as subject, 'life ' || epoch || ' was settled ' || count(*) || ' times' as what
    from goodstanding.event_attempts
    where outcome in ('done', 'dead')
    group by account, event_id, epoch
    having count(*) > 1
    ${LIMIT}
  `)

/** Events whose effect was recorded twice for the same subscription. */
export const appliedTwice = (db: Queries) =>
  db.any(violation`
    select account || ' ' || event_id as subject, 'applied ' || count(*) || ' times' as what
    from goodstanding.billing_audit
    where kind = 'applied'
      and event_id is not null
      and reason is distinct from 'operator'
    group by account, event_id, coalesce(subscription_id, '')
    having count(*) > 1
    ${LIMIT}
  `)

/** Settled rows that a worker, a person or the ingest cannot have settled so: no attempt, no action, no reason. */
export const unexplained = (db: Queries) =>
  db.any(violation`
    select event.account || ' ' || event.event_id as subject, 'settled as ' || event.outcome || ' by nobody' as what
    from goodstanding.billing_events event
    where (event.processed_at is not null or event.dead_letter_at is not null)
      and not (event.outcome = 'ignored' and event.reason is not null)
      and not exists (
        select 1
        from goodstanding.event_attempts attempt
        where attempt.account = event.account
          and attempt.event_id = event.event_id
          and attempt.epoch = event.epoch
          and attempt.outcome in ('done', 'dead')
      )
    ${LIMIT}
  `)

/** Events that were discarded or superseded without a trail. */
export const untrailed = (db: Queries) =>
  db.any(violation`
    select event.account || ' ' || event.event_id as subject, event.outcome || ' without an audit row' as what
    from goodstanding.billing_events event
    where event.outcome in ('discarded', 'superseded', 'discarded_by_operator')
      and not exists (
        select 1
        from goodstanding.billing_audit audit
        where audit.account = event.account
          and audit.event_id = event.event_id
          and audit.kind in ('discarded', 'superseded')
      )
    ${LIMIT}
  `)

/** Events that began more attempts in a life than there may be. */
export const tooManyAttempts = (db: Queries, max: number) =>
  db.any(violation`
    select account || ' ' || event_id as subject, attempts || ' attempts' as what
    from goodstanding.billing_events
    where attempts > ${max}
    ${LIMIT}
  `)

/** Customers whose last read is numbered beyond every number that was drawn. */
export const readsAhead = (db: Queries) =>
  db.any(violation`
    select account || ' ' || customer_id as subject, 'read ' || read_ticket || ' was never drawn' as what
    from goodstanding.customers
    where greatest(read_ticket, lookup_ticket) > (select last_value from goodstanding.ticket)
    ${LIMIT}
  `)

/** Entitlement rows that are not what the history last said of them, and history of rows that are not there. */
export const historyDisagrees = (db: Queries) =>
  db.any(violation`
    select coalesce(mine.account, told.account) || ' ' || coalesce(mine.item_id, told.item_id) || ' '
        || coalesce(mine.feature, told.feature) as subject,
      case
        when mine.item_id is null then 'the history says that it is there'
        when told.item_id is null then 'the history does not know it'
        else 'the history says otherwise'
      end as what
    from goodstanding.entitlements mine
    full join (
      select distinct on (account, item_id, feature) account, item_id, feature, after
      from goodstanding.entitlement_history
      order by account, item_id, feature, history_id desc
    ) told
      on told.account = mine.account
      and told.item_id = mine.item_id
      and told.feature = mine.feature
    where (mine.item_id is null and told.after is not null)
      or (mine.item_id is not null and (told.after is null or told.after -> 'value' <> mine.value
        or (told.after ->> 'granted')::boolean <> mine.granted or told.after ->> 'state' <> mine.state))
    ${LIMIT}
  `)

/** Entitlement rows that belong to another tenant than their customer. */
export const foreignRows = (db: Queries) =>
  db.any(violation`
    select entitlement.account || ' ' || entitlement.customer_id as subject,
      'gives to ' || entitlement.tenant_id || ', but belongs to ' || coalesce(customer.tenant_id, 'nobody') as what
    from goodstanding.entitlements entitlement
    join goodstanding.customers customer
      on customer.account = entitlement.account
      and customer.customer_id = entitlement.customer_id
    where customer.tenant_id is distinct from entitlement.tenant_id
    ${LIMIT}
  `)
