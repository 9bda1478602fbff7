-- What runs by the clock and not by an event: who looked when, how far, and what came of it.

create table goodstanding.sweeps (
  account text not null,
  name text not null check (name in ('catchup', 'retention', 'drift', 'ends', 'lost_jobs')),
  due_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  through_at timestamptz,
  cursor jsonb,
  result jsonb,
  failures integer not null default 0 check (failures >= 0),
  last_error text check (length(last_error) <= 500),
  primary key (account, name)
);
comment on table goodstanding.sweeps is
  'Sweeps of an account, each with its last run and result. A worker takes one by moving due_at on: one at a time, and again if it dies.';
comment on column goodstanding.sweeps.through_at is 'catchup: every event that Stripe made until then is in the inbox.';
comment on column goodstanding.sweeps.cursor is 'catchup: where a long run goes on; null between runs.';
comment on column goodstanding.sweeps.failures is 'Failed runs in a row.';

create table goodstanding.drift_runs (
  run_id bigint generated always as identity primary key,
  account text not null,
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz not null,
  compared integer not null check (compared >= 0),
  gains integer not null check (gains >= 0),
  losses integer not null check (losses >= 0),
  budget integer not null check (budget >= 0),
  state text not null check (state in ('done', 'waiting', 'approved', 'superseded')),
  approved_by text,
  check ((state = 'approved') = (approved_by is not null))
);
comment on table goodstanding.drift_runs is
  'Comparisons of a whole account with Stripe. waiting: more customers would lose access than the budget allows; a person approves, or the next run supersedes it.';

create table goodstanding.drift_items (
  run_id bigint not null references goodstanding.drift_runs (run_id) on delete cascade,
  customer_id text not null,
  kind text not null,
  detail jsonb not null default '{}',
  loses boolean not null,
  healed_at timestamptz,
  primary key (run_id, customer_id)
);
comment on table goodstanding.drift_items is
  'Customers for whom Stripe and we disagreed in a run; healed_at: when the read that follows Stripe was enqueued.';

create table goodstanding.api_denials (
  minute timestamptz not null,
  token text not null,
  scope text not null,
  why text not null,
  count integer not null check (count >= 1),
  primary key (minute, token, scope, why)
);
comment on table goodstanding.api_denials is
  'Calls of the API that were refused, counted by minute: the token''s name (empty where it is unknown), what it needed, and why not.';

create table goodstanding.workers (
  worker text primary key,
  version text not null,
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp()
);
comment on table goodstanding.workers is 'Worker processes that were seen of late; one that is silent for a day is forgotten.';
