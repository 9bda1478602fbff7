-- Time is applied when it is read: what a tenant may use now, which plan that is, and the ledger that others expect.
-- Every view is written so that one tenant is read through indexes, whatever the number of tenants.

-- How long an account could not be read: staleness stands still meanwhile. Kept by a trigger, because a pause and a
-- hold may overlap and whoever ends one of them must not know of the other.
alter table goodstanding.accounts
  add column stopped_since timestamptz,
  add column started_at timestamptz;
comment on column goodstanding.accounts.stopped_since is
  'Since when it is paused or in hold, whichever came first; null while it runs. Kept by a trigger.';
comment on column goodstanding.accounts.started_at is 'When it last ran again after a pause or hold. Kept by a trigger.';
comment on column goodstanding.accounts.paused_total is
  'How long it was paused or in hold in all, the present stop apart. Kept by a trigger.';

create function goodstanding.note_stop() returns trigger
language plpgsql
as $$
declare
  stopped constant boolean := new.hold or new.paused_since is not null;
  stopped_before constant boolean := tg_op = 'UPDATE' and (old.hold or old.paused_since is not null);
begin
  if stopped and not stopped_before then
    new.stopped_since := case when tg_op = 'INSERT' then new.paused_since end;
    new.stopped_since := coalesce(new.stopped_since, goodstanding.clock());
  elsif stopped_before and not stopped then
    new.paused_total := old.paused_total + greatest(goodstanding.clock() - old.stopped_since, '0');
    new.stopped_since := null;
    new.started_at := goodstanding.clock();
  elsif stopped_before then
    new.paused_total := old.paused_total;
    new.stopped_since := old.stopped_since;
  end if;
  return new;
end
$$;
comment on function goodstanding.note_stop() is
  'Trigger of accounts: keeps stopped_since, started_at and paused_total true for pauses and holds that overlap.';

create trigger accounts_stop
  before insert or update on goodstanding.accounts
  for each row execute function goodstanding.note_stop();

update goodstanding.accounts
set stopped_since = coalesce(paused_since, goodstanding.clock())
where hold or paused_since is not null;

create function goodstanding.paused_for(account text) returns interval
language plpgsql volatile
as $$
declare
  total interval;
begin
  select of_account.paused_total
      + coalesce(greatest(goodstanding.clock() - of_account.stopped_since, '0'), '0')
    into total
  from goodstanding.accounts of_account
  where of_account.account = paused_for.account;
  return coalesce(total, '0');
end
$$;
comment on function goodstanding.paused_for(text) is
  'How long an account has been paused or in hold in all, a running pause or hold included; 0 for one that is unknown.';

create view goodstanding.catalog_in_force as
select
  catalog_hash,
  activated_at,
  body ->> 'default' as default_plan,
  (body -> 'plans' -> (body ->> 'default') ->> 'rank')::integer as default_rank
from goodstanding.catalogs
order by activated_at desc, catalog_hash
limit 1;
comment on view goodstanding.catalog_in_force is
  'The catalog that was activated last, with the name and rank of its default plan. No row where none was ever loaded.';

-- Instants by which a row changes by itself: from_at, final_at, recheck_at in the customer's own time (frozen where it
-- is on a test clock), stale_until by the real clock.
create view goodstanding.entitlement_sources as
select
  bounded.tenant_id,
  bounded.account,
  bounded.customer_id,
  bounded.subscription_id,
  bounded.item_id,
  bounded.feature,
  bounded.value,
  bounded.plan,
  bounded.rank,
  case
    when bounded.own_now >= bounded.final_at and not bounded.held then 'ended'
    when bounded.granted and bounded.own_now < bounded.from_at then 'pending'
    when bounded.granted and bounded.past_recheck and bounded.now >= bounded.stale_until and not bounded.held
      then 'suspended'
    else bounded.state
  end as state,
  bounded.granted
    and coalesce(bounded.own_now >= bounded.from_at, true)
    and (
      bounded.held
      or (
        coalesce(bounded.own_now < bounded.final_at, true)
        and not (bounded.past_recheck and bounded.now >= bounded.stale_until)
      )
    ) as granted,
  bounded.granted and bounded.past_recheck as stale,
  bounded.held,
  bounded.held_until,
  bounded.from_at,
  bounded.final_at,
  bounded.recheck_at,
  bounded.stale_until,
  bounded.own_now,
  bounded.now,
  bounded.on_test_clock,
  bounded.read_at,
  bounded.stopped_since,
  bounded.started_at,
  bounded.because
from (
  select
    timed.*,
    -- What had ended before a hold of revocations began is not given back.
    timed.granted
      and hold.from_at is not null
      and coalesce(timed.final_at > hold.from_at, true)
      and coalesce(timed.stale_until > hold.from_at, true) as held,
    hold.until_at as held_until
  from (
    select
      entitlement.tenant_id,
      entitlement.account,
      entitlement.customer_id,
      entitlement.subscription_id,
      entitlement.item_id,
      entitlement.feature,
      entitlement.value,
      entitlement.plan,
      entitlement.rank,
      entitlement.state,
      entitlement.granted,
      entitlement.from_at,
      entitlement.final_at,
      entitlement.recheck_at,
      entitlement.because,
      clock.now,
      customer.test_clock_at is not null as on_test_clock,
      customer.read_at,
      account.stopped_since,
      account.started_at,
      coalesce(customer.test_clock_at, clock.now) as own_now,
      coalesce(coalesce(customer.test_clock_at, clock.now) >= entitlement.recheck_at, false) as past_recheck,
      case
        when entitlement.recheck_at is null then null
        -- Payload mode: nothing can be read, so it counts from the end itself; it waits for a stop that began before.
        when customer.read_at is null then
          entitlement.recheck_at + entitlement.stale_grace
            + case
                when account.stopped_since < entitlement.recheck_at + entitlement.stale_grace
                  then greatest(clock.now - account.stopped_since, '0')
                else '0'
              end
        else
          -- From the end, or from the last read if that is later: most customers were last read long before their end.
          -- A recheck end on a test clock cannot be compared with the real clock.
          greatest(case when customer.test_clock_at is null then entitlement.recheck_at end, customer.read_at)
            + entitlement.stale_grace
            -- What stood still since the read is added, but no more than has passed since the end.
            + least(
                greatest(
                  coalesce(account.paused_total, '0')
                    + coalesce(greatest(clock.now - account.stopped_since, '0'), '0')
                    - customer.read_paused_total,
                  '0'
                ),
                case
                  when customer.test_clock_at is null and entitlement.recheck_at > customer.read_at
                    then greatest(clock.now - entitlement.recheck_at, '0')
                end
              )
      end as stale_until
    from goodstanding.entitlements entitlement
    join goodstanding.customers customer
      on customer.account = entitlement.account
      and customer.customer_id = entitlement.customer_id
    left join goodstanding.accounts account on account.account = entitlement.account
    cross join (select goodstanding.clock() as now) clock
  ) timed
  left join lateral (
    select min(revocation_hold.from_at) as from_at, max(revocation_hold.until_at) as until_at
    from goodstanding.revocation_holds revocation_hold
    where revocation_hold.ended_at is null
      and revocation_hold.until_at > timed.now
      and revocation_hold.from_at <= timed.now
      and coalesce(revocation_hold.account, timed.account) = timed.account
  ) hold on true
) bounded;
comment on view goodstanding.entitlement_sources is
  'Every entitlement row as it is at this moment: what one item of one subscription gives, whether it is past its recheck end (stale), until when that is borne (stale_until), and whether a hold of revocations keeps it (held).';

-- state: the best among the merged sources (active, trial, grace). from_at: since the first of them. until_at: when the
-- last of them ends by what is known, null where one is open: its final end, else its recheck end (paid through;
-- until_kind = 'recheck': Stripe is read again then), else, when that has passed, the end of what is borne ('stale';
-- open while the account is paused or in hold). because: a list, highest rank first.
create view goodstanding.effective_entitlements as
select
  tenant.tenant_id,
  given.feature,
  given.value,
  given.state,
  given.source,
  given.from_at,
  given.until_at,
  given.until_kind,
  given.stale,
  given.because
from goodstanding.tenants tenant
cross join lateral (
  select distinct on (candidate.feature)
    candidate.feature,
    candidate.value,
    candidate.state,
    candidate.source,
    candidate.from_at,
    candidate.until_at,
    candidate.until_kind,
    candidate.stale,
    candidate.because
  from (
    -- By hand. A denial comes first, and has no value.
    select
      override.feature,
      override.value,
      'active' as state,
      'manual' as source,
      override.from_at,
      override.until_at,
      case when override.until_at is not null then 'final' end as until_kind,
      false as stale,
      jsonb_build_array(jsonb_build_object('rule', 'override_allow', 'overrideId', override.override_id)) as because,
      case override.effect when 'deny' then 1 else 2 end as precedence,
      override.override_id as newest
    from goodstanding.entitlement_overrides override
    cross join (select goodstanding.clock() as now) clock
    where override.tenant_id = tenant.tenant_id
      and override.revoked_at is null
      and override.from_at <= clock.now
      and (override.until_at is null or clock.now < override.until_at)
    union all
    select
      merged.feature,
      merged.value,
      merged.state,
      'stripe',
      merged.from_at,
      nullif(merged.until_at, 'infinity'),
      case when merged.until_at < 'infinity' then merged.until_kind end,
      merged.stale,
      merged.because,
      3,
      0
    from (
      select
        source.feature,
        coalesce(
          case coalesce(catalog_feature.merge, min(source.natural_merge))
            when 'or' then to_jsonb(bool_or(source.value = 'true'))
            when 'max' then to_jsonb(max(source.number))
            when 'sum' then to_jsonb(sum(source.number))
          end,
          (array_agg(source.value order by source.rank desc, source.account, source.item_id))[1]
        ) as value,
        case
          when bool_or(source.state = 'active') then 'active'
          when bool_or(source.state = 'trial') then 'trial'
          else 'grace'
        end as state,
        nullif(min(coalesce(source.from_at, '-infinity')), '-infinity') as from_at,
        max(source.until_at) as until_at,
        (array_agg(source.until_kind order by source.until_at desc, source.account, source.item_id))[1] as until_kind,
        bool_or(source.stale) as stale,
        jsonb_agg(source.because order by source.rank desc, source.account, source.item_id) as because
      from (
        select
          each.feature,
          each.value,
          case when jsonb_typeof(each.value) = 'number' then each.value::numeric end as number,
          -- For rows whose feature the catalog has dropped.
          case jsonb_typeof(each.value) when 'boolean' then 'or' when 'number' then 'max' end as natural_merge,
          each.rank,
          each.account,
          each.item_id,
          each.state,
          each.from_at,
          each.stale,
          each.because,
          case
            when each.kept then each.held_until
            when not each.stale then coalesce(least(each.final_at, each.recheck_at), 'infinity')
            when each.stopped_since is null then least(each.final_at, each.stale_until)
            else coalesce(each.final_at, 'infinity')
          end as until_at,
          case
            when each.kept then 'held'
            when each.final_at <= case when each.stale then each.stale_until else each.recheck_at end
              or each.recheck_at is null
              or (each.stale and each.stopped_since is not null) then 'final'
            when each.stale then 'stale'
            else 'recheck'
          end as until_kind
        from (
          select
            held_source.*,
            -- Only the hold of revocations gives it still.
            held_source.held
              and (held_source.own_now >= held_source.final_at or held_source.now >= held_source.stale_until) is true
              as kept
          from goodstanding.entitlement_sources held_source
        ) each
        where each.tenant_id = tenant.tenant_id
          and each.granted
          and each.feature <> '$plan'
      ) source
      left join goodstanding.catalog_features catalog_feature on catalog_feature.feature = source.feature
      group by source.feature, catalog_feature.merge
    ) merged
    union all
    -- The default plan, where no other grants.
    select
      catalog_feature.feature,
      catalog_feature.default_value,
      'active',
      'default',
      null,
      null,
      null,
      false,
      jsonb_build_array(jsonb_build_object('rule', 'default_plan')),
      4,
      0
    from goodstanding.catalog_features catalog_feature
    where catalog_feature.default_value is not null
      and catalog_feature.feature <> '$plan'
      and not exists (
        select 1
        from goodstanding.entitlement_sources held
        where held.tenant_id = tenant.tenant_id
          and held.feature = '$plan'
          and held.granted
      )
  ) candidate
  order by candidate.feature, candidate.precedence, candidate.newest desc
) given
where given.value is not null;
comment on view goodstanding.effective_entitlements is
  'What each tenant may use at this moment, a row a feature; what is not granted now is absent. Sources: manual overrides, then stripe (several items, subscriptions and accounts merged by the catalog''s rule), then the default plan.';
comment on column goodstanding.effective_entitlements.until_at is
  'When the last source ends by what is known; null where one is open. See until_kind.';
comment on column goodstanding.effective_entitlements.until_kind is
  'final: it ends then. recheck: paid through; Stripe is read again then. stale: past that, borne until then. held: kept by a hold of revocations until then.';

create view goodstanding.effective_plans as
select
  tenant.tenant_id,
  coalesce(held.plan, catalog.default_plan) as plan,
  held.plan is not null as active,
  case
    when held.state is not null then held.state
    when exists (
      select 1
      from goodstanding.customers customer
      where customer.tenant_id = tenant.tenant_id
        and (customer.read_at is not null or customer.evidence_at is not null)
    ) then 'none'
    else 'unknown'
  end as state,
  case when held.plan is not null then held.rank else catalog.default_rank end as rank,
  coalesce(held.stale, false) as stale,
  tenant.as_of,
  tenant.revision
from goodstanding.tenants tenant
cross join lateral (
  select
    (array_agg(source.plan order by source.rank desc, source.account, source.item_id) filter (where source.granted))[1]
      as plan,
    max(source.rank) filter (where source.granted) as rank,
    case
      when bool_or(source.granted and source.state = 'active') then 'active'
      when bool_or(source.granted and source.state = 'trial') then 'trial'
      when bool_or(source.granted) then 'grace'
      when bool_or(source.state = 'suspended') then 'suspended'
      when bool_or(source.state = 'pending') then 'pending'
      when bool_or(source.state = 'ended') then 'ended'
    end as state,
    bool_or(source.granted and source.stale) as stale
  from goodstanding.entitlement_sources source
  where source.tenant_id = tenant.tenant_id
    and source.feature = '$plan'
) held
left join goodstanding.catalog_in_force catalog on true;
comment on view goodstanding.effective_plans is
  'The plan of each tenant at this moment: the highest rank that grants, else the default. State: active, trial, grace, suspended, pending, ended; none: read and nothing there; unknown: never read.';
comment on column goodstanding.effective_plans.active is 'Does a plan that was bought (or is on trial) grant now?';

create function goodstanding.last_transition(tenant text) returns timestamptz
language plpgsql volatile
as $$
declare
  clock_now constant timestamptz := goodstanding.clock();
  latest timestamptz;
begin
  select max(instants.at)
    into latest
  from (
    select moment.at
    from goodstanding.entitlement_sources source
    cross join lateral (
      values
        -- A test clock moves only when it is read, and these instants lie in a time of their own.
        (case when not source.on_test_clock then source.from_at end),
        (case when not source.on_test_clock then source.final_at end),
        (case when not source.on_test_clock then source.recheck_at end),
        (case when source.on_test_clock then source.read_at end),
        -- Past a recheck end, each answered read, stop and start of the account moves the end of what is borne.
        (case when source.stale then source.stale_until end),
        (case when source.stale then source.read_at end),
        (case when source.stale then source.stopped_since end),
        (case when source.stale then source.started_at end)
    ) as moment (at)
    where source.tenant_id = tenant
    union all
    -- The first read turns unknown into none, though no entitlement changes.
    select customer.read_at
    from goodstanding.customers customer
    where customer.tenant_id = tenant
      and not exists (
        select 1
        from goodstanding.entitlements entitlement
        where entitlement.account = customer.account
          and entitlement.customer_id = customer.customer_id
      )
    union all
    select moment.at
    from goodstanding.entitlement_overrides override
    cross join lateral (values (override.from_at), (override.until_at), (override.revoked_at)) as moment (at)
    where override.tenant_id = tenant
    union all
    select moment.at
    from goodstanding.revocation_holds revocation_hold
    cross join lateral (
      values (revocation_hold.from_at), (revocation_hold.until_at), (revocation_hold.ended_at)
    ) as moment (at)
    union all
    select catalog.activated_at
    from goodstanding.catalog_in_force catalog
  ) instants
  where instants.at <= clock_now;
  return latest;
end
$$;
comment on function goodstanding.last_transition(text) is
  'The latest instant, not after now, at which time changed or may have changed what a tenant may use. With the revision it makes the ETag.';

create index entitlement_overrides_of_tenant on goodstanding.entitlement_overrides (tenant_id);
create index catalogs_activated on goodstanding.catalogs (activated_at desc, catalog_hash);

create view goodstanding.webhook_ledger as
select
  event.account,
  event.event_id as id,
  event.type,
  case
    when event.processed_at is not null then 'processed'
    when event.dead_letter_at is not null then 'failed_permanent'
    else 'processing'
  end as status,
  (
    select count(*)
    from goodstanding.event_attempts attempt
    where attempt.account = event.account
      and attempt.event_id = event.event_id
  ) as attempt_count,
  event.received_at,
  event.processed_at,
  event.last_error,
  event.last_error_at
from goodstanding.billing_events event;
comment on view goodstanding.webhook_ledger is
  'Every event with its status (processing, processed, failed_permanent) and the attempts begun in all epochs, the successful one included.';

create view goodstanding.discards as
select
  audit.account,
  audit.event_id as event,
  audit.reason,
  audit.subscription_id as subscription,
  audit.at
from goodstanding.billing_audit audit
where audit.event_id is not null
  and audit.kind in ('discarded', 'superseded')
union all
select
  event.account,
  event.event_id,
  event.reason,
  null,
  event.processed_at
from goodstanding.billing_events event
where event.outcome in ('discarded', 'superseded', 'discarded_by_operator')
  and not exists (
    select 1
    from goodstanding.billing_audit audit
    where audit.account = event.account
      and audit.event_id = event.event_id
      and audit.kind in ('discarded', 'superseded')
      and audit.epoch = event.epoch
  );
comment on view goodstanding.discards is
  'What an event said and was not followed: event, reason, subscription, at. Stale, superseded by live state, or discarded by an operator.';

-- The table of node-pg-migrate, made before the first change.
do $$
begin
  if to_regclass('goodstanding.schema_changes') is not null then
    comment on table goodstanding.schema_changes is 'Schema changes that were applied, in order. Written by `schema apply` only.';
  end if;
end
$$;
