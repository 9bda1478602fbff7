-- The inbox: every event that Stripe signed and we acknowledged, and what became of it.
create schema if not exists goodstanding;

comment on schema goodstanding is 'Entitlements of tenants, kept equal to Stripe''s live state.';

create table goodstanding.clock_offset (
  singleton boolean primary key default true check (singleton),
  seconds numeric not null
);
comment on table goodstanding.clock_offset is
  'Test marker: only where a row exists does goodstanding.clock() differ from now(). serve refuses it with a live key.';

-- Volatile on purpose: inside a long transaction the clock must go on.
create function goodstanding.clock() returns timestamptz
language sql volatile
as $$
  select clock_timestamp() + coalesce((select seconds from goodstanding.clock_offset), 0) * interval '1 second'
$$;
comment on function goodstanding.clock() is 'The only "now" of views and rules.';

create sequence goodstanding.ticket as bigint;
comment on sequence goodstanding.ticket is
  'Numbers received events and Stripe reads in one order: a read whose number is larger began after the event was received.';

create table goodstanding.accounts (
  account text primary key check (account ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  livemode boolean,
  stripe_account_id text,
  hold boolean not null default false,
  paused_since timestamptz,
  pause_cause text,
  paused_total interval not null default '0',
  probe_at timestamptz,
  probe_failures integer not null default 0 check (probe_failures >= 0),
  created_at timestamptz not null default goodstanding.clock(),
  check ((paused_since is null) = (pause_cause is null))
);
comment on table goodstanding.accounts is
  'The Stripe accounts we serve, by name: pinned mode and account id, hold before activation, pauses and how long they lasted.';
comment on column goodstanding.accounts.livemode is 'True for real money; pinned by the key or by the first verified event.';
comment on column goodstanding.accounts.hold is 'Events are stored, nothing is applied, until an operator activates the account.';

create table goodstanding.billing_events (
  account text not null,
  event_id text not null check (length(event_id) between 1 and 255),
  received_seq bigint not null default nextval('goodstanding.ticket'),
  provider text not null default 'stripe' check (provider = 'stripe'),
  type text not null check (length(type) between 1 and 255),
  livemode boolean not null,
  api_version text,
  stripe_created_at timestamptz,
  received_at timestamptz not null default goodstanding.clock(),
  source text not null default 'webhook' check (source in ('webhook', 'catchup')),
  deliveries integer not null default 1 check (deliveries >= 1),
  customer_id text check (length(customer_id) between 1 and 255),
  object_id text check (length(object_id) between 1 and 255),
  payload text,
  epoch integer not null default 1 check (epoch >= 1),
  attempts integer not null default 0 check (attempts >= 0),
  next_attempt_at timestamptz,
  processed_at timestamptz,
  dead_letter_at timestamptz,
  outcome text,
  reason text,
  last_error text check (length(last_error) <= 500),
  last_error_at timestamptz,
  job_id uuid,
  ack_wait_until timestamptz,
  primary key (account, event_id),
  check (processed_at is null or dead_letter_at is null),
  check (
    case
      when processed_at is not null then
        outcome in ('applied', 'no_change', 'ignored', 'discarded', 'superseded', 'discarded_by_operator')
      when dead_letter_at is not null then outcome in ('permanent', 'attempts_exhausted') and reason is not null
      else outcome is null
    end
  )
);
comment on table goodstanding.billing_events is
  'Inbox and ledger: one row an event. Pending while both processed_at and dead_letter_at are null; the row, not the job, is the truth.';
comment on column goodstanding.billing_events.payload is 'The body as it was signed, byte for byte (text, because jsonb refuses NUL escapes); null once it was forgotten (PAYLOAD_RETENTION_DAYS).';
comment on column goodstanding.billing_events.source is 'Posted by Stripe, or found missing in its list of events (catchup).';
comment on column goodstanding.billing_events.epoch is 'Raised by requeue and revival: a new budget of attempts; a worker of an older epoch cannot commit.';
comment on column goodstanding.billing_events.job_id is 'The job that will run it; while dead, its entry in billing.dead.';
comment on column goodstanding.billing_events.reason is 'Reason code: why it was settled so, or, while pending, why the last attempt did not end.';

create index billing_events_pending on goodstanding.billing_events (account, next_attempt_at)
  where processed_at is null and dead_letter_at is null;
create index billing_events_received on goodstanding.billing_events (account, received_at);
create index billing_events_bodies on goodstanding.billing_events (account, processed_at) where payload is not null;
create index billing_events_dead on goodstanding.billing_events (account, dead_letter_at)
  where dead_letter_at is not null;
create index billing_events_customer on goodstanding.billing_events (account, customer_id, received_seq);

create table goodstanding.event_attempts (
  attempt_id bigint generated always as identity primary key,
  account text not null,
  event_id text not null,
  epoch integer not null,
  started_at timestamptz not null,
  finished_at timestamptz not null default goodstanding.clock(),
  outcome text not null check (outcome in ('done', 'retry', 'deferred', 'postponed', 'dead')),
  code text,
  worker text not null,
  version text not null,
  foreign key (account, event_id) references goodstanding.billing_events (account, event_id)
);
comment on table goodstanding.event_attempts is 'One row a settled attempt of an event. Append-only.';

create index event_attempts_event on goodstanding.event_attempts (account, event_id);
