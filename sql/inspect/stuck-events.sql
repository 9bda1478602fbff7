-- Events that are dead, or pending for longer than they should, with what stopped them and whether their job is there.
-- An event that waits by rule (deferred) shows when it is tried next. Oldest first, 100 at most.
--   psql "$DATABASE_URL" -v minutes=5 -f sql/inspect/stuck-events.sql
\if :{?minutes}
\else
  \set minutes 5
\endif
select
  event.account,
  event.event_id,
  event.type,
  case when event.dead_letter_at is not null then 'dead' else 'pending' end as state,
  event.reason,
  event.epoch,
  event.attempts,
  event.received_at,
  date_trunc('second', goodstanding.clock() - event.received_at) as age,
  event.next_attempt_at,
  event.last_error,
  event.last_error_at,
  job.name as queue,
  coalesce(job.state::text, 'gone') as job
from goodstanding.billing_events event
left join pgboss.job job
  on job.id = event.job_id
  and job.name in ('billing.event.' || event.account, 'billing.dead')
where event.processed_at is null
  and (
    event.dead_letter_at is not null
    or event.received_at < goodstanding.clock() - :'minutes'::integer * interval '1 minute'
  )
order by event.received_seq
limit 100;
