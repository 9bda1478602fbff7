-- Who a Stripe customer is to the host product, and what Stripe last said of it.
create table goodstanding.tenants (
  tenant_id text primary key check (length(tenant_id) between 1 and 255),
  revision bigint not null default 1 check (revision >= 1),
  as_of timestamptz,
  created_at timestamptz not null default goodstanding.clock()
);
comment on table goodstanding.tenants is
  'The host product''s customers. revision grows whenever the effective set changes; as_of is the last reconcile.';

create table goodstanding.customers (
  account text not null,
  customer_id text not null check (length(customer_id) between 1 and 255),
  tenant_id text references goodstanding.tenants (tenant_id),
  linked_by text check (linked_by in ('checkout', 'metadata', 'api', 'operator')),
  linked_at timestamptz,
  taken_from text,
  deleted boolean not null default false,
  test_clock_at timestamptz,
  lookup_ticket bigint not null default 0,
  read_ticket bigint not null default 0,
  read_at timestamptz,
  read_paused_total interval not null default '0',
  catalog_hash text,
  decision_version integer,
  recheck_at timestamptz,
  recheck_queued_at timestamptz,
  evidence_at timestamptz,
  payment text check (payment in ('paid', 'failed')),
  payment_at timestamptz,
  failures integer not null default 0 check (failures >= 0),
  failed_at timestamptz,
  created_at timestamptz not null default goodstanding.clock(),
  primary key (account, customer_id),
  unique (account, tenant_id),
  check ((tenant_id is null) = (linked_by is null)),
  check ((payment is null) = (payment_at is null))
);
comment on table goodstanding.customers is
  'Stripe customers of each account, the tenant each is linked to, and the ticket, time, catalog and rules of the last read.';
comment on column goodstanding.customers.taken_from is
  'The tenant that an operator took it from: what Stripe''s metadata says does not link it to that one again; a person or the API may.';
comment on column goodstanding.customers.lookup_ticket is
  'Number of the last look at the customer alone that found no tenant in its metadata: events before it need no other.';
comment on column goodstanding.customers.read_paused_total is
  'How long the account had been paused in all at that read: staleness does not run while it is paused.';
comment on column goodstanding.customers.recheck_at is 'When Stripe must be read again: the earliest recheck end of this customer.';
comment on column goodstanding.customers.evidence_at is
  'Payload mode: when Stripe made the newest event that was applied. Decisions are made as of then; time is applied on read.';
comment on column goodstanding.customers.payment_at is
  'Payload mode: when Stripe made the newest event of a payment (paid or failed) that was applied; older ones are stale.';
comment on column goodstanding.customers.failures is 'Consecutive failures of Stripe reads for this customer (429, 5xx, time-out).';

create index customers_recheck on goodstanding.customers (recheck_at) where recheck_at is not null;
create index customers_tenant on goodstanding.customers (tenant_id) where tenant_id is not null;
create index customers_failed on goodstanding.customers (account, failed_at) where failed_at is not null;

create table goodstanding.subscriptions (
  account text not null,
  subscription_id text not null,
  customer_id text not null,
  status text not null,
  status_detail text,
  started_at timestamptz,
  cancel_at timestamptz,
  cancel_at_period_end boolean not null,
  canceled_at timestamptz,
  ended_at timestamptz,
  trial_end timestamptz,
  pause_behavior text,
  pause_resumes_at timestamptz,
  paused_until timestamptz,
  collection text not null check (collection in ('charge_automatically', 'send_invoice')),
  tenant_hint text,
  unpaid_invoice_id text,
  unpaid_since timestamptz,
  updated_at timestamptz not null default goodstanding.clock(),
  primary key (account, subscription_id)
);
comment on table goodstanding.subscriptions is 'What Stripe last said of each subscription. Rows are kept when it ends.';
comment on column goodstanding.subscriptions.unpaid_since is 'Since when money is owed; written once an invoice, never restarted by a second look.';

create index subscriptions_customer on goodstanding.subscriptions (account, customer_id);

create table goodstanding.subscription_items (
  account text not null,
  item_id text not null,
  subscription_id text not null,
  position integer not null,
  price_id text not null,
  lookup_key text,
  product_id text,
  quantity bigint,
  metered boolean not null,
  period_start timestamptz,
  period_end timestamptz,
  removed_at timestamptz,
  primary key (account, item_id),
  foreign key (account, subscription_id) references goodstanding.subscriptions (account, subscription_id)
);
comment on table goodstanding.subscription_items is 'The lines of a subscription as last read; removed_at marks one that is gone.';

create index subscription_items_subscription on goodstanding.subscription_items (account, subscription_id);

create table goodstanding.payload_reports (
  account text not null,
  subscription_id text not null,
  told text not null check (told in ('created', 'changed', 'deleted')),
  reported_at timestamptz not null,
  reported jsonb not null,
  payment text check (payment in ('paid', 'failed')),
  payment_at timestamptz,
  payment_invoice_id text,
  paid_through jsonb not null default '{}',
  primary key (account, subscription_id),
  foreign key (account, subscription_id) references goodstanding.subscriptions (account, subscription_id),
  check ((payment is null) = (payment_at is null)),
  check ((payment is null) = (payment_invoice_id is null))
);
comment on table goodstanding.payload_reports is
  'Payload mode: what the newest event said of each subscription, and its newest payment. subscriptions has what follows from both.';
comment on column goodstanding.payload_reports.told is 'created comes before every other event of a subscription, deleted after.';
comment on column goodstanding.payload_reports.reported_at is 'When Stripe made that event: older ones are stale, others of the same second ambiguous.';
comment on column goodstanding.payload_reports.paid_through is 'Period ends that invoices paid for, by subscription item.';

create table goodstanding.invoices (
  account text not null,
  invoice_id text not null,
  customer_id text,
  subscription_id text,
  status text not null,
  amount_due bigint not null,
  amount_paid bigint not null,
  amount_remaining bigint not null,
  currency text,
  collection text not null check (collection in ('charge_automatically', 'send_invoice')),
  billing_reason text,
  stripe_created_at timestamptz,
  due_at timestamptz,
  finalized_at timestamptz,
  reported_at timestamptz,
  updated_at timestamptz not null default goodstanding.clock(),
  primary key (account, invoice_id)
);
comment on column goodstanding.invoices.reported_at is
  'Payload mode: when Stripe made the event that reported it so: an older report that comes late changes nothing.';
comment on table goodstanding.invoices is 'Invoices that were read or reported. A stored paid or void is never left.';

create index invoices_customer on goodstanding.invoices (account, customer_id);

create table goodstanding.price_mappings (
  account text not null,
  price_id text not null,
  plan text not null,
  created_at timestamptz not null default goodstanding.clock(),
  primary key (account, price_id)
);
comment on table goodstanding.price_mappings is
  'Plans found through a lookup key or product, remembered for that price: a lookup key can move to a newer price.';

create table goodstanding.refunds (
  account text not null,
  refund_id text not null,
  customer_id text,
  charge_id text,
  payment_intent_id text,
  invoice_id text,
  amount bigint,
  currency text,
  status text,
  stripe_created_at timestamptz,
  reported_at timestamptz,
  updated_at timestamptz not null default goodstanding.clock(),
  primary key (account, refund_id)
);
comment on column goodstanding.refunds.reported_at is 'When Stripe made the event that reported it so: an older report that comes late changes nothing.';
comment on table goodstanding.refunds is 'Refunds as reported, tied to customer and invoice. They do not change access by themselves.';

create table goodstanding.disputes (
  account text not null,
  dispute_id text not null,
  customer_id text,
  charge_id text,
  payment_intent_id text,
  invoice_id text,
  amount bigint,
  currency text,
  status text,
  stripe_created_at timestamptz,
  reported_at timestamptz,
  updated_at timestamptz not null default goodstanding.clock(),
  primary key (account, dispute_id)
);
comment on column goodstanding.disputes.reported_at is 'When Stripe made the event that reported it so: an older report that comes late changes nothing.';
comment on table goodstanding.disputes is 'Disputes and inquiries as reported, tied to customer and invoice. They do not change access by themselves.';
