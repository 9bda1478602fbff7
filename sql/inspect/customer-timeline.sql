-- What happened to one Stripe customer, oldest first: events received, attempts, audit, changes of entitlements.
--   psql "$DATABASE_URL" -v customer=cus_123 -v account=default -f sql/inspect/customer-timeline.sql
\if :{?account}
\else
  \set account default
\endif
select timeline.at, timeline.what, timeline.subject, timeline.detail
from (
  select
    event.received_at as at,
    'received' as what,
    event.event_id as subject,
    event.type || ' x' || event.deliveries as detail
  from goodstanding.billing_events event
  where event.account = :'account'
    and event.customer_id = :'customer'
  union all
  select
    attempt.finished_at,
    'attempt ' || attempt.outcome,
    attempt.event_id,
    concat_ws(' ', 'epoch ' || attempt.epoch, attempt.code)
  from goodstanding.event_attempts attempt
  join goodstanding.billing_events event
    on event.account = attempt.account
    and event.event_id = attempt.event_id
  where event.account = :'account'
    and event.customer_id = :'customer'
  union all
  select
    audit.at,
    'audit ' || audit.kind,
    coalesce(audit.event_id, audit.customer_id),
    concat_ws(' ', audit.reason, audit.subscription_id, audit.detail)
  from goodstanding.billing_audit audit
  where audit.account = :'account'
    and audit.customer_id = :'customer'
  union all
  select
    history.recorded_at,
    'entitlement ' || history.change,
    history.feature,
    concat_ws(' ', history.item_id, coalesce(history.after, history.before) ->> 'state', 'by ' || history.cause)
  from goodstanding.entitlement_history history
  join goodstanding.customers customer
    on customer.tenant_id = history.tenant_id
    and customer.account = history.account
    and customer.customer_id = history.customer_id
  where customer.account = :'account'
    and customer.customer_id = :'customer'
) timeline
order by timeline.at, timeline.what
limit 1000;
