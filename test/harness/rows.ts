// Rows of the entitlement tables put in by hand, and the database's clock set to an instant: for specs of what the
// views and the read API say, without a worker, a webhook or Stripe.
import pg from 'pg'
import { createTestDatabase } from './database.ts'

export type Row = {
  tenant: string
  feature: string
  value: boolean | number | string
  account?: string
  customer?: string
  item?: string
  plan?: string
  rank?: number
  state?: string
  from?: string | null
  final?: string | null
  recheck?: string | null
}

const GRANTING = new Set(['active', 'trial', 'grace'])

type Query = <R extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<R[]>

/** One connection of its own, because such specs ask many small questions. */
export const openRows = async (url: string) => {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  const query: Query = async <R extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    (await client.query<R>(text, values)).rows
  return {
    query,
    close: () => client.end(),
    ...surroundings(query),
    ...people(query),
    ...entitlements(query),
    ...answers(query),
  }
}

export type Rows = Awaited<ReturnType<typeof openRows>>

/**
 * A database of one's own with the catalog, for the tests of a file: return `close` from `beforeAll`. `query` runs on
 * other connections than `rows`.
 */
export const openFileRows = async () => {
  const database = await createTestDatabase()
  const rows = await openRows(database.url)
  await rows.addCatalog()
  const close = async () => {
    await rows.close()
    await database.drop()
  }
  return { rows, close, query: database.query }
}

/** An instant of January 2030. */
export const at = (time: string, day = 1) => `2030-01-${String(day).padStart(2, '0')}T${time}Z`

/** A tenant with a plan and one feature, read at noon of the first. */
export const subscribeIn = async (
  rows: Rows,
  tenant: string,
  times: { from?: string; final?: string; recheck?: string },
  readAt: string | null = at('12:00:00'),
) => {
  await rows.addCustomer({ tenant, readAt })
  await rows.addRow({ tenant, feature: '$plan', value: 'pro', ...times })
  await rows.addRow({ tenant, feature: 'export', value: true, ...times })
}

const surroundings = (query: Query) => {
  const setClock = async (iso: string) => {
    await query(
      `insert into goodstanding.clock_offset (seconds) values (extract(epoch from $1::timestamptz - clock_timestamp()))
       on conflict (singleton) do update set seconds = excluded.seconds`,
      [iso],
    )
  }
  const addCatalog = async () => {
    const body = { default: 'free', plans: { free: { rank: 0 }, basic: { rank: 10 }, pro: { rank: 20 } } }
    await query(
      "insert into goodstanding.catalogs (catalog_hash, body, activated_at) values ('one', $1, '2020-01-01')",
      [JSON.stringify(body)],
    )
    await query(`
      insert into goodstanding.catalog_features (feature, merge, default_value)
      values ('export', 'or', null), ('projects', 'max', '1'), ('seats', 'sum', null), ('tier', 'rank', null)`)
  }
  return { setClock, addCatalog }
}

const people = (query: Query) => {
  const addAccount = (account: string) =>
    query('insert into goodstanding.accounts (account) values ($1) on conflict do nothing', [account])
  const addTenant = (tenant: string) =>
    query('insert into goodstanding.tenants (tenant_id) values ($1) on conflict do nothing', [tenant])
  const addCustomer = async (input: {
    tenant: string
    account?: string
    customer?: string
    readAt?: string | null
    testClockAt?: string | null
  }) => {
    const {
      tenant,
      account = 'default',
      customer = `cus_${tenant}`,
      readAt = null,
      testClockAt = null,
    } = input
    await addAccount(account)
    await addTenant(tenant)
    await query(
      `insert into goodstanding.customers (account, customer_id, tenant_id, linked_by, read_at, test_clock_at, read_ticket, read_paused_total)
       values ($1, $2, $3, 'api', $4, $5, 1, goodstanding.paused_for($1))
       on conflict (account, customer_id) do update
         set read_at = excluded.read_at, test_clock_at = excluded.test_clock_at, read_paused_total = excluded.read_paused_total`,
      [account, customer, tenant, readAt, testClockAt],
    )
  }
  return { addAccount, addTenant, addCustomer }
}

const entitlements = (query: Query) => {
  const addRow = async (row: Row) => {
    const {
      account = 'default',
      customer = `cus_${row.tenant}`,
      item = `si_${row.tenant}`,
      state = 'active',
    } = row
    await query(
      `insert into goodstanding.entitlements
         (account, customer_id, tenant_id, subscription_id, item_id, feature, value, plan, rank, state, granted, from_at,
          final_at, recheck_at, stale_grace, because)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, '72 hours', $15)`,
      [
        account,
        customer,
        row.tenant,
        `sub_of_${item}`,
        item,
        row.feature,
        JSON.stringify(row.value),
        row.plan ?? 'pro',
        row.rank ?? 20,
        state,
        GRANTING.has(state),
        row.from ?? null,
        row.final ?? null,
        row.recheck ?? null,
        JSON.stringify({ rule: state, itemId: item }),
      ],
    )
  }
  const addOverride = (input: {
    tenant: string
    feature: string
    effect: 'allow' | 'deny'
    value?: unknown
    from?: string
    until?: string | null
  }) =>
    query(
      `insert into goodstanding.entitlement_overrides (tenant_id, feature, effect, value, from_at, until_at, permanent, operator, reason)
       values ($1, $2, $3, $4, coalesce($5, goodstanding.clock()), $6::timestamptz, $6::timestamptz is null, 'ann', 'spec')`,
      [
        input.tenant,
        input.feature,
        input.effect,
        input.value === undefined ? null : JSON.stringify(input.value),
        input.from ?? null,
        input.until ?? null,
      ],
    )
  return { addRow, addOverride }
}

const answers = (query: Query) => {
  const features = async (tenant: string): Promise<Record<string, unknown>> => {
    const rows = await query<{ feature: string; value: unknown }>(
      'select feature, value from goodstanding.effective_entitlements where tenant_id = $1 order by feature',
      [tenant],
    )
    return Object.fromEntries(rows.map(({ feature, value }) => [feature, value]))
  }
  const feature = async (tenant: string, name: string) => {
    const [row] = await query<{
      value: unknown
      state: string
      source: string
      from_at: Date | null
      until_at: Date | null
      until_kind: string | null
      stale: boolean
      because: unknown[]
    }>(
      `select value, state, source, from_at, until_at, until_kind, stale, because
       from goodstanding.effective_entitlements where tenant_id = $1 and feature = $2`,
      [tenant, name],
    )
    return row ?? null
  }
  const plan = async (tenant: string) => {
    const [row] = await query<{ plan: string; active: boolean; state: string; rank: number; stale: boolean }>(
      'select plan, active, state, rank, stale from goodstanding.effective_plans where tenant_id = $1',
      [tenant],
    )
    return row
  }
  return { features, feature, plan }
}
