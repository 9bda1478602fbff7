-- Each account: what waits and for how long, what is deferred by rule, what is dead, what was settled in the last hour,
-- and why it may stand still.
--   psql "$DATABASE_URL" -f sql/inspect/queue-health.sql
select
  account.account,
  case
    when account.hold then 'hold'
    when account.paused_since is not null then 'paused: ' || account.pause_cause
    else 'runs'
  end as state,
  account.stopped_since,
  events.due,
  date_trunc('second', goodstanding.clock() - events.oldest_due) as oldest_due_age,
  events.waiting,
  events.next_attempt_at,
  events.dead,
  events.processed_last_hour,
  events.max_attempts_pending,
  jobs.event_jobs,
  jobs.reconcile_jobs
from goodstanding.accounts account
cross join lateral (
  select
    count(*) filter (where pending and due_at <= goodstanding.clock()) as due,
    min(received_at) filter (where pending and due_at <= goodstanding.clock()) as oldest_due,
    count(*) filter (where pending and due_at > goodstanding.clock()) as waiting,
    min(due_at) filter (where pending and due_at > goodstanding.clock()) as next_attempt_at,
    count(*) filter (where dead_letter_at is not null) as dead,
    count(*) filter (where processed_at > goodstanding.clock() - interval '1 hour') as processed_last_hour,
    coalesce(max(attempts) filter (where pending), 0) as max_attempts_pending
  from (
    select
      processed_at is null and dead_letter_at is null as pending,
      coalesce(next_attempt_at, received_at) as due_at,
      received_at,
      processed_at,
      dead_letter_at,
      attempts
    from goodstanding.billing_events event
    where event.account = account.account
  ) of_account
) events
cross join lateral (
  select
    count(*) filter (where job.name = 'billing.event.' || account.account) as event_jobs,
    count(*) filter (where job.name = 'customer.reconcile.' || account.account) as reconcile_jobs
  from pgboss.job job
  where job.name in ('billing.event.' || account.account, 'customer.reconcile.' || account.account)
    and job.state in ('created', 'retry', 'active')
) jobs
order by account.account;
