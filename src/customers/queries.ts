// SQL of the shared noun: Stripe customers of each account, and the tenants they belong to.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Queries, Transaction } from '../postgres/pool.ts'
import type { Instant } from '../time.ts'

export type CustomerKey = { account: string; customerId: string }

const customer = z.strictObject({
  account: z.string(),
  customer_id: z.string(),
  tenant_id: z.string().nullable(),
  taken_from: z.string().nullable(),
  deleted: z.boolean(),
  lookup_ticket: z.number(),
  read_ticket: z.number(),
  read_at: z.number().nullable(),
  catalog_hash: z.string().nullable(),
  decision_version: z.number().nullable(),
  failures: z.number(),
  evidence_at: z.number().nullable(),
  payment: z.enum(['paid', 'failed']).nullable(),
  payment_at: z.number().nullable(),
})
export type CustomerRow = z.infer<typeof customer>
const customerRow = sql.type(customer)

const columns = sql.fragment`
  account, customer_id, tenant_id, taken_from, deleted, lookup_ticket, read_ticket, read_at, catalog_hash, decision_version, failures,
  evidence_at, payment, payment_at
`

/** The customer's row; made where there is none. Call it under the customer's lock. */
export const rememberCustomer = async (
  tx: Transaction,
  { account, customerId }: CustomerKey,
): Promise<CustomerRow> => {
  const known = await tx.maybeOne(customerRow`
    select ${columns}
    from goodstanding.customers
    where account = ${account}
      and customer_id = ${customerId}
  `)
  if (known !== null) return known
  return tx.one(customerRow`
    insert into goodstanding.customers (account, customer_id)
    values (${account}, ${customerId})
    returning ${columns}
  `)
}

/** Which customer of the account a tenant is bound to, if any. */
export const findCustomerOfTenant = (tx: Transaction, input: { account: string; tenantId: string }) =>
  tx.maybeOneFirst(sql.type(z.strictObject({ customer_id: z.string() }))`
    select customer_id
    from goodstanding.customers
    where account = ${input.account}
      and tenant_id = ${input.tenantId}
  `)

export const insertTenant = (tx: Transaction, tenantId: string) =>
  tx.query(sql.unsafe`
    insert into goodstanding.tenants (tenant_id)
    values (${tenantId})
    on conflict do nothing
  `)

/** Binds an unbound customer. False where it is bound already. */
export const bindCustomer = async (
  tx: Transaction,
  input: CustomerKey & { tenantId: string; by: 'checkout' | 'metadata' | 'api' | 'operator' },
): Promise<boolean> =>
  (
    await tx.query(sql.unsafe`
    update goodstanding.customers
    set tenant_id = ${input.tenantId},
        linked_by = ${input.by},
        linked_at = goodstanding.clock(),
        taken_from = null
    where account = ${input.account}
      and customer_id = ${input.customerId}
      and tenant_id is null
  `)
  ).rowCount === 1

/** Stripe was asked for the customer and named no tenant: events received before need not ask again. */
export const recordLookup = (tx: Transaction, input: CustomerKey & { ticket: number }) =>
  tx.query(sql.unsafe`
    insert into goodstanding.customers as mine (account, customer_id, lookup_ticket)
    values (${input.account}, ${input.customerId}, ${input.ticket})
    on conflict (account, customer_id) do update
      set lookup_ticket = greatest(mine.lookup_ticket, excluded.lookup_ticket)
  `)

/** Draws the number of a read, larger than that of every event received before, and the database's time. */
export const drawTicket = (tx: Transaction) =>
  tx.one(sql.type(z.strictObject({ ticket: z.number(), now: z.number() }))`
    select nextval('goodstanding.ticket') as ticket, goodstanding.clock() as now
  `)

/** Now, by the rules' clock. */
export const readClock = (db: Queries) =>
  db.oneFirst(sql.type(z.strictObject({ now: z.number() }))`select goodstanding.clock() as now`)

/** What a finished read leaves on the customer. A ticket never goes backwards: false means that one tried to. */
export const recordRead = async (
  tx: Transaction,
  input: CustomerKey & {
    ticket: number
    deleted: boolean
    testClockAt: Instant | null
    catalogHash: string
    decisionVersion: number
    recheckAt: Instant | null
  },
): Promise<boolean> =>
  (
    await tx.query(sql.unsafe`
    update goodstanding.customers
    set read_ticket = ${input.ticket},
        read_at = goodstanding.clock(),
        read_paused_total = goodstanding.paused_for(account),
        deleted = ${input.deleted},
        test_clock_at = ${timestamp(input.testClockAt)},
        catalog_hash = ${input.catalogHash},
        decision_version = ${input.decisionVersion},
        recheck_at = ${timestamp(input.recheckAt)},
        -- An end that is past already is looked at again later (claimRechecks), not at once and for ever.
        recheck_queued_at = case when ${timestamp(input.recheckAt)} <= goodstanding.clock() then recheck_queued_at end,
        failures = 0,
        failed_at = null
    where account = ${input.account}
      and customer_id = ${input.customerId}
      and read_ticket < ${input.ticket}
  `)
  ).rowCount === 1

/** What events leave on the customer where nothing can be read (payload mode): nothing is read again, so no recheck. */
export const recordEvidence = (
  tx: Transaction,
  input: CustomerKey & {
    deleted: boolean
    catalogHash: string
    decisionVersion: number
    evidenceAt: Instant | null
    payment: { payment: 'paid' | 'failed'; at: Instant } | null
  },
) =>
  tx.query(sql.unsafe`
    update goodstanding.customers
    set deleted = ${input.deleted},
        catalog_hash = ${input.catalogHash},
        decision_version = ${input.decisionVersion},
        evidence_at = ${timestamp(input.evidenceAt)},
        payment = ${input.payment?.payment ?? null},
        payment_at = ${timestamp(input.payment?.at ?? null)},
        recheck_at = null
    where account = ${input.account}
      and customer_id = ${input.customerId}
  `)

/** An event said that the customer was deleted: known before it is linked, since it will not be said again. */
export const markDeleted = (tx: Transaction, { account, customerId }: CustomerKey) =>
  tx.query(sql.unsafe`
    insert into goodstanding.customers (account, customer_id, deleted)
    values (${account}, ${customerId}, true)
    on conflict (account, customer_id) do update
      set deleted = true
  `)

/** Stripe answered, though nothing could be decided from it: staleness counts from here. */
export const recordAnswered = (tx: Transaction, { account, customerId }: CustomerKey) =>
  tx.query(sql.unsafe`
    update goodstanding.customers
    set read_at = goodstanding.clock(),
        read_paused_total = goodstanding.paused_for(account),
        failures = 0,
        failed_at = null
    where account = ${account}
      and customer_id = ${customerId}
      and read_ticket > 0
  `)

/** One more failed read in a row. Returns the count, and how many customers failed within the last 30 s. */
export const recordReadFailure = (tx: Transaction, { account, customerId }: CustomerKey) =>
  tx.one(sql.type(z.strictObject({ failures: z.number(), failing: z.number() }))`
    with failed as (
      insert into goodstanding.customers as mine (account, customer_id, failures, failed_at)
      values (${account}, ${customerId}, 1, goodstanding.clock())
      on conflict (account, customer_id) do update
        set failures = mine.failures + 1,
            failed_at = excluded.failed_at
      returning failures
    )
    select failed.failures,
      1 + (
        select count(*)
        from goodstanding.customers other
        where other.account = ${account}
          and other.customer_id <> ${customerId}
          and other.failed_at > goodstanding.clock() - interval '30 seconds'
      )::int as failing
    from failed
  `)

/** Records that a tenant's effective set changed (`changed`), and as of when it is known. Last of all locks. */
export const touchTenant = (tx: Transaction, input: { tenantId: string; changed: boolean }) =>
  tx.query(sql.unsafe`
    update goodstanding.tenants
    set revision = revision + ${input.changed ? 1 : 0},
        as_of = goodstanding.clock()
    where tenant_id = ${input.tenantId}
  `)

const timestamp = (at: Instant | null) =>
  at === null ? sql.fragment`null::timestamptz` : sql.timestamp(new Date(at))
