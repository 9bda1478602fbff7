// The service between a Stripe double and a database, in this process and over real HTTP: what the system specs and
// the demo stand on.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { loadConfig, type Config } from '../../src/config.ts'
import type { Log } from '../../src/log.ts'
import { openRuntime, type Runtime } from '../../src/runtime.ts'
import { createApp, listen } from '../../src/server.ts'
import type { SimAccount, StripeSim } from '../stripe-sim/sim.ts'

export const CATALOG = {
  default: 'free',
  graceDays: 7,
  subscriptions: 'quarantine',
  plans: {
    free: { rank: 0, features: {} },
    basic: { rank: 10, prices: ['price_basic'], features: { export: true } },
    pro: {
      rank: 20,
      prices: ['price_pro', 'lookup:pro_yearly', 'product:prod_pro'],
      features: { export: true, sso: true, seats: { from: 'quantity' } },
    },
  },
} as const

export const ACCOUNT: SimAccount = {
  name: 'default',
  id: 'acct_1Default000001',
  apiKey: 'sk_test_default000000000001',
  livemode: false,
  webhookSecret: 'whsec_default0000000000000000001',
}

export const READ_TOKEN = 'gs_test-read-token-000000000000000000000000000'

export type Query = <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>

export type ServiceOptions = {
  sim: StripeSim
  accounts: SimAccount[]
  databaseUrl: string
  query: Query
  log: Log
  catalog?: object
  /** Accounts that are served without a key. */
  keyless?: string[]
  env?: Record<string, string>
}

export type Service = {
  config: Config
  runtime: Runtime
  url: string
  catalog: object
  /** Environment in which `node src/main.ts serve` would serve the same. */
  env: Record<string, string>
  startWorker: () => Promise<void>
  stopWorker: () => Promise<void>
  /** Waits until nothing is due: every event settled, deferred or dead, every reconcile done. */
  settle: (timeoutMs?: number) => Promise<void>
  /** Delivers all that is pending and settles. */
  deliver: (how?: Parameters<StripeSim['delivery']['flush']>[0]) => Promise<void>
  /** `GET /v1/tenants/:tenant/entitlements`. */
  read: (tenant: string) => Promise<{ status: number; body: Record<string, unknown>; etag: string | null }>
  /** `PUT /v1/tenants/:tenant/customer`; answers the status. */
  link: (tenant: string, customer: string) => Promise<number>
  /** Moves Stripe's clock and goodstanding.clock() together. */
  advance: (ms: number) => Promise<void>
  close: () => Promise<void>
}

/** Waits until `check` holds. */
export const until = async (
  what: string,
  check: () => Promise<boolean> | boolean,
  timeoutMs = 40_000,
): Promise<void> => {
  const end = performance.now() + timeoutMs
  while (!(await check())) {
    if (performance.now() > end) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`)
    await sleep(15)
  }
}

/** Until an event is stopped by this reason: it waits for it, or died of it. */
export const untilStopped = ({ query }: { query: Query }, reason: string): Promise<void> =>
  until(`an event is stopped by ${reason}`, async () => {
    const rows = await query(
      'select 1 from goodstanding.billing_events where reason = $1 and processed_at is null',
      [reason],
    )
    return rows.length > 0
  })

/** Opens the service on a free port, the worker not yet running; Stripe delivers to it by hand (`deliver`). */
export const openService = async (options: ServiceOptions): Promise<Service> => {
  const { sim, query } = options
  const folder = mkdtempSync(join(tmpdir(), 'goodstanding-service-'))
  const catalog = options.catalog ?? CATALOG
  const env = { ...writeFiles(folder, options, catalog), ...options.env }
  const loaded = loadConfig(env)
  if (loaded.kind === 'invalid') throw new Error(loaded.problems.join('\n'))
  const runtime = await openRuntime(loaded.config, options.databaseUrl, options.log)
  const app = createApp(runtime.context, { serve: 'both' })
  const server = await listen(app, { host: '127.0.0.1', port: 0, log: options.log })
  const url = `http://127.0.0.1:${server.port}`
  for (const { name } of options.accounts) sim.delivery.to(name, `${url}/webhooks/stripe/${name}`)
  sim.delivery.mode = 'manual'
  let work: Awaited<ReturnType<Runtime['startWork']>> | null = null
  let offsetMs = sim.clock.now() - Date.now()
  const stopWorker = async () => {
    await work?.drain()
    work = null
  }
  const settle = (timeoutMs = 40_000) => until('nothing is due', () => isQuiet(query), timeoutMs)
  return {
    config: loaded.config,
    runtime,
    url,
    catalog,
    env,
    startWorker: async () => {
      work ??= await runtime.startWork()
    },
    stopWorker,
    settle,
    deliver: async (how = {}) => {
      await sim.delivery.flush(how)
      await settle()
    },
    read: (tenant) => readEntitlements(url, tenant),
    link: (tenant, customer) => putCustomer(url, tenant, customer),
    advance: async (ms) => {
      offsetMs += ms
      sim.clock.advance(ms)
      await query(
        'insert into goodstanding.clock_offset (seconds) values ($1) on conflict (singleton) do update set seconds = $1',
        [offsetMs / 1_000],
      )
    },
    close: async () => {
      runtime.beginDrain()
      await server.close(1_000)
      await stopWorker()
      await runtime.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const readEntitlements: (url: string, tenant: string) => ReturnType<Service['read']> = async (
  url,
  tenant,
) => {
  const response = await fetch(`${url}/v1/tenants/${encodeURIComponent(tenant)}/entitlements`, {
    headers: { authorization: `Bearer ${READ_TOKEN}` },
  })
  const body = (await response.json()) as Record<string, unknown>
  return { status: response.status, body, etag: response.headers.get('etag') }
}

const putCustomer = async (url: string, tenant: string, customer: string): Promise<number> => {
  const response = await fetch(`${url}/v1/tenants/${encodeURIComponent(tenant)}/customer`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${READ_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ customer }),
  })
  return response.status
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const writeFiles = (folder: string, options: ServiceOptions, catalog: object): Record<string, string> => {
  const file = (name: string, content: object) => {
    writeFileSync(join(folder, name), JSON.stringify(content))
    return join(folder, name)
  }
  const accounts = options.accounts.map(({ name, webhookSecret, apiKey, livemode }) => ({
    name,
    ...(options.keyless?.includes(name) !== true && { apiKey, mode: livemode ? 'live' : 'test' }),
    webhookSecrets: webhookSecret,
  }))
  const token = {
    name: 'spec',
    sha256: sha256(READ_TOKEN),
    scopes: ['read', 'explain', 'operate', 'admin'],
    expires: '2100-01-01T00:00:00Z',
  }
  return {
    DATABASE_URL: options.databaseUrl,
    STRIPE_API_BASE: options.sim.url,
    PORT: '0',
    ACCOUNTS_FILE: file('accounts.json', { accounts }),
    CATALOG_FILE: file('catalog.json', catalog),
    API_TOKENS_FILE: file('tokens.json', { tokens: [token] }),
    STRIPE_RECONCILIATION_POLL_MS: '1000',
    STRIPE_REQUESTS_PER_SECOND: '10000',
  }
}

const isQuiet = async (query: Query): Promise<boolean> => {
  const [row] = await query<{ busy: string }>(`
    select (
      select count(*) from goodstanding.billing_events
      where processed_at is null and dead_letter_at is null
        and (next_attempt_at is null or next_attempt_at <= goodstanding.clock())
    ) + (
      select count(*) from pgboss.job
      where name like 'customer.reconcile.%' and state in ('created', 'retry', 'active') and start_after <= now()
    ) as busy`)
  return Number(row?.busy) === 0
}
