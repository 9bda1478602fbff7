-- What runs by the clock and not by an event: who looked when, how far, and what came of it.

create table goodstanding.sweeps (
  account text not null,
  name text not null check (name in ('catchup', 'retention')),
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
