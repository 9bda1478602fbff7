-- What follows for the tenant. Time is applied when it is read, so a plain SELECT is right even if workers stop.
create table goodstanding.catalogs (
  catalog_hash text primary key,
  body jsonb not null,
  first_seen_at timestamptz not null default goodstanding.clock(),
  activated_at timestamptz not null default goodstanding.clock()
);
comment on table goodstanding.catalogs is 'Every catalog file that was ever in use, by hash; the one activated last is in force.';

create table goodstanding.catalog_features (
  feature text primary key,
  merge text not null check (merge in ('or', 'max', 'sum', 'rank')),
  default_value jsonb
);
comment on table goodstanding.catalog_features is
  'Of the catalog in force: how sources of a feature are merged, and what the default plan gives.';

create table goodstanding.entitlements (
  account text not null,
  customer_id text not null,
  tenant_id text not null references goodstanding.tenants (tenant_id),
  subscription_id text not null,
  item_id text not null,
  feature text not null,
  value jsonb not null,
  plan text not null,
  rank integer not null,
  state text not null check (state in ('active', 'trial', 'grace', 'suspended', 'pending', 'ended')),
  granted boolean not null,
  from_at timestamptz,
  final_at timestamptz,
  recheck_at timestamptz,
  stale_grace interval not null default '72 hours',
  because jsonb not null,
  updated_at timestamptz not null default goodstanding.clock(),
  primary key (account, item_id, feature),
  foreign key (account, customer_id) references goodstanding.customers (account, customer_id),
  check (granted = (state in ('active', 'trial', 'grace')))
);
comment on table goodstanding.entitlements is
  'One row per subscription item and feature; the feature $plan carries the plan''s name. Written only under the customer''s lock.';
comment on column goodstanding.entitlements.final_at is 'Access ends here by itself.';
comment on column goodstanding.entitlements.recheck_at is
  'Past this access stays, marked stale, until Stripe is read again, at most stale_grace after it, or after the last answered read if that is later.';

create index entitlements_tenant on goodstanding.entitlements (tenant_id);
create index entitlements_ends on goodstanding.entitlements (account, final_at) where granted and final_at is not null;
create index entitlements_customer on goodstanding.entitlements (account, customer_id);

create table goodstanding.entitlement_overrides (
  override_id bigint generated always as identity primary key,
  tenant_id text not null references goodstanding.tenants (tenant_id),
  feature text not null,
  effect text not null check (effect in ('allow', 'deny')),
  value jsonb,
  from_at timestamptz not null default goodstanding.clock(),
  until_at timestamptz,
  permanent boolean not null default false,
  operator text not null,
  reason text not null,
  revoked_at timestamptz,
  check (permanent = (until_at is null)),
  check ((effect = 'allow') = (value is not null))
);
comment on table goodstanding.entitlement_overrides is
  'Grants and denials made by hand, each with an end or an explicit permanent. A webhook can never wipe them.';

create index entitlement_overrides_tenant on goodstanding.entitlement_overrides (tenant_id) where revoked_at is null;

create table goodstanding.revocation_holds (
  hold_id bigint generated always as identity primary key,
  account text,
  from_at timestamptz not null default goodstanding.clock(),
  until_at timestamptz not null,
  ended_at timestamptz,
  operator text not null check (length(operator) > 0),
  reason text not null check (length(reason) > 0),
  check (until_at > from_at)
);
comment on table goodstanding.revocation_holds is
  'While one is in force nobody loses access: neither by what is read, nor by an end that passes. account null: all accounts.';

create index revocation_holds_open on goodstanding.revocation_holds (until_at) where ended_at is null;

create table goodstanding.entitlement_history (
  history_id bigint generated always as identity primary key,
  tenant_id text not null,
  account text not null,
  customer_id text not null,
  item_id text not null,
  feature text not null,
  change text not null check (change in ('added', 'changed', 'removed')),
  before jsonb,
  after jsonb,
  valid_from timestamptz not null,
  recorded_at timestamptz not null default goodstanding.clock(),
  cause text not null
);
comment on table goodstanding.entitlement_history is
  'Every change of an entitlement row, with when it holds from and the event or sweep that caused it. Append-only.';

create index entitlement_history_tenant on goodstanding.entitlement_history (tenant_id, recorded_at);

create table goodstanding.billing_audit (
  audit_id bigint generated always as identity primary key,
  account text not null,
  event_id text,
  epoch integer,
  customer_id text,
  subscription_id text,
  kind text not null,
  reason text,
  detail jsonb,
  at timestamptz not null default goodstanding.clock()
);
comment on table goodstanding.billing_audit is
  'Every event that was applied, discarded, superseded, deferred, quarantined, linked, woken or requeued, with its reason. Append-only.';

create unique index billing_audit_once on goodstanding.billing_audit
  (account, event_id, epoch, coalesce(subscription_id, ''), kind) where event_id is not null;
create unique index billing_audit_applied_once on goodstanding.billing_audit
  (account, event_id, coalesce(subscription_id, '')) where kind = 'applied';
create index billing_audit_customer on goodstanding.billing_audit (account, customer_id, at);

create table goodstanding.operator_actions (
  action_id bigint generated always as identity primary key,
  operator text not null check (length(operator) > 0),
  reason text not null check (length(reason) > 0),
  verb text not null,
  target text not null,
  before jsonb,
  after jsonb,
  at timestamptz not null default goodstanding.clock()
);
comment on table goodstanding.operator_actions is 'What people did, with name and reason. Append-only.';

create table goodstanding.findings (
  finding_id bigint generated always as identity primary key,
  code text not null,
  account text not null,
  subject text not null,
  detail jsonb not null default '{}',
  first_seen_at timestamptz not null default goodstanding.clock(),
  last_seen_at timestamptz not null default goodstanding.clock(),
  seen integer not null default 1,
  resolved_at timestamptz,
  resolved_by text,
  acked_at timestamptz,
  acked_by text,
  check ((resolved_at is null) = (resolved_by is null)),
  check ((acked_at is null) = (acked_by is null))
);
comment on table goodstanding.findings is 'Things a person should look at: code, subject, first and last seen, resolved by whom.';
comment on column goodstanding.findings.acked_at is 'A person has seen it: it stays open, and status does not count it any more.';

create unique index findings_open on goodstanding.findings (account, code, subject) where resolved_at is null;

create table goodstanding.stripe_budget (
  account text not null,
  endpoint text not null,
  next_free_at timestamptz not null default clock_timestamp(),
  slowdown numeric not null default 1 check (slowdown >= 1),
  slowed_at timestamptz,
  blocked_until timestamptz,
  block_cause text,
  primary key (account, endpoint)
);
comment on table goodstanding.stripe_budget is
  'Shared limiter of Stripe calls, a row per account and endpoint: when the next call may start, and slow-down after 429.';
