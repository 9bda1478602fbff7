// The vocabulary of the system specs: a Stripe double, a database of one's own, and the service between them, in this
// process and over real HTTP. `openWorld` gives a fresh one; `close` ends it.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog, type Log } from '../../src/log.ts'
import { loadConfig, type Config } from '../../src/config.ts'
import { openRuntime, type Runtime } from '../../src/runtime.ts'
import { createApp, listen, type Listening } from '../../src/server.ts'
import { startStripeSim, type SimAccount, type StripeSim } from '../stripe-sim/sim.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { capturedLog } from './log-capture.ts'

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

export type WorldOptions = {
  accounts?: SimAccount[]
  /** Accounts that are served without a key. */
  keyless?: string[]
  catalog?: object
  env?: Record<string, string>
  /** false: no worker until `startWorker`. */
  worker?: boolean
  seed?: number
  adminUrl?: string
}

export type World = {
  sim: StripeSim
  shop: ReturnType<StripeSim['account']>
  database: TestDatabase
  query: TestDatabase['query']
  config: Config
  runtime: Runtime
  url: string
  catalog: object
  /** Environment in which `node src/main.ts serve` would serve the same world. */
  env: Record<string, string>
  startWorker: () => Promise<void>
  stopWorker: () => Promise<void>
  /** Waits until nothing is due: every event settled, deferred or dead, every reconcile done. */
  settle: (timeoutMs?: number) => Promise<void>
  /** Delivers all that is pending and settles. */
  deliver: (options?: Parameters<StripeSim['delivery']['flush']>[0]) => Promise<void>
  /** `GET /v1/tenants/:tenant/entitlements`. */
  read: (tenant: string) => Promise<{ status: number; body: Record<string, unknown>; etag: string | null }>
  event: (eventId: string) => Promise<Record<string, unknown>>
  close: () => Promise<void>
}

export const READ_TOKEN = 'gs_test-read-token-000000000000000000000000000'

/** Waits until `check` holds. */
export const until = async (what: string, check: () => Promise<boolean> | boolean, timeoutMs = 20_000): Promise<void> => {
  const end = performance.now() + timeoutMs
  while (!(await check())) {
    if (performance.now() > end) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`)
    await sleep(15)
  }
}

export const openWorld = async (options: WorldOptions = {}): Promise<World> => {
  const accounts = options.accounts ?? [ACCOUNT]
  const sim = await startStripeSim({ accounts, ...(options.seed !== undefined && { seed: options.seed }), now: Date.now() })
  const database = await createTestDatabase(options.adminUrl)
  const folder = mkdtempSync(join(tmpdir(), 'goodstanding-world-'))
  const catalog = options.catalog ?? CATALOG
  const env = { ...writeFiles(folder, accounts, options, catalog), DATABASE_URL: database.url, STRIPE_API_BASE: sim.url, ...options.env }
  const loaded = loadConfig(env)
  if (loaded.kind === 'invalid') throw new Error(loaded.problems.join('\n'))
  const log: Log = createLog({ level: 'debug', destination: capturedLog })
  const runtime = await openRuntime(loaded.config, database.url, log)
  const server: Listening = await listen(createApp(runtime.context, { serve: 'both' }), { host: '127.0.0.1', port: 0, log })
  const url = `http://127.0.0.1:${server.port}`
  for (const { name } of accounts) sim.delivery.to(name, `${url}/webhooks/stripe/${name}`)
  sim.delivery.mode = 'manual'
  let work: Awaited<ReturnType<Runtime['startWork']>> | null = null
  const startWorker = async () => {
    work ??= await runtime.startWork()
  }
  const stopWorker = async () => {
    await work?.drain()
    work = null
  }
  if (options.worker !== false) await startWorker()
  const settle = (timeoutMs = 20_000) => until('nothing is due', () => isQuiet(database), timeoutMs)
  return {
    sim,
    shop: sim.account(accounts[0]!.name),
    database,
    query: database.query,
    config: loaded.config,
    runtime,
    url,
    catalog,
    env,
    startWorker,
    stopWorker,
    settle,
    deliver: async (how = {}) => {
      await sim.delivery.flush(how)
      await settle()
    },
    read: async (tenant) => {
      const response = await fetch(`${url}/v1/tenants/${encodeURIComponent(tenant)}/entitlements`, {
        headers: { authorization: `Bearer ${READ_TOKEN}` },
      })
      return { status: response.status, body: (await response.json()) as Record<string, unknown>, etag: response.headers.get('etag') }
    },
    event: async (eventId) => {
      const [row] = await database.query<Record<string, unknown>>('select * from goodstanding.billing_events where event_id = $1', [eventId])
      if (row === undefined) throw new Error(`no event ${eventId}`)
      return row
    },
    close: async () => {
      runtime.beginDrain()
      await server.close(1_000)
      await stopWorker()
      await runtime.stop()
      await sim.close()
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const writeFiles = (folder: string, accounts: SimAccount[], options: WorldOptions, catalog: object): Record<string, string> => {
  const file = (name: string, content: object) => {
    writeFileSync(join(folder, name), JSON.stringify(content))
    return join(folder, name)
  }
  return {
    PORT: '0',
    ACCOUNTS_FILE: file('accounts.json', {
      accounts: accounts.map(({ name, webhookSecret, apiKey, livemode }) => ({
        name,
        ...(options.keyless?.includes(name) ? {} : { apiKey, mode: livemode ? 'live' : 'test' }),
        webhookSecrets: [webhookSecret],
      })),
    }),
    CATALOG_FILE: file('catalog.json', catalog),
    API_TOKENS_FILE: file('tokens.json', {
      tokens: [{ name: 'spec', sha256: sha256(READ_TOKEN), scopes: ['read', 'operate'], expires: '2100-01-01T00:00:00Z' }],
    }),
    STRIPE_RECONCILIATION_POLL_MS: '1000',
    STRIPE_REQUESTS_PER_SECOND: '10000',
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const isQuiet = async (database: TestDatabase): Promise<boolean> => {
  const [row] = await database.query<{ busy: number }>(`
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
