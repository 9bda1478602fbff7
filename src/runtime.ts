// Builds Context from Config in order, and stops it in reverse: HTTP first (drained), then the worker, then LISTEN,
// pools and pg-boss, the embedded database last.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { loadCatalog } from './cli/catalog-file.ts'
import type { Config } from './config.ts'
import type { Context, WorkerContext } from './context.ts'
import { AppError } from './errors.ts'
import { activateCatalog } from './entitlements/catalog-queries.ts'
import type { Log } from './log.ts'
import { openMetrics, type Metrics } from './metrics.ts'
import { openGauges } from './operate/gauges.ts'
import { openDatabase, type Database, type DatabaseOptions } from './postgres/pool.ts'
import { hasClockOffset } from './postgres/server.ts'
import { listenForJobs } from './postgres/listen.ts'
import { startQueue } from './postgres/queue.ts'
import { openAccounts, type StripeAccount } from './stripe/accounts.ts'
import { openBudget } from './stripe/budget.ts'
import { pinAccount } from './stripe/queries.ts'
import { SECOND_MS } from './time.ts'
import { createTokenCheck } from './tokens.ts'
import { VERSION } from './version.ts'
import { startWorker } from './worker.ts'
import { startSweeps } from './worker/sweeps.ts'
import { startUpkeep } from './worker/upkeep.ts'

export type Runtime = {
  context: Context
  /** Starts the slots and passes of a worker. */
  startWork: () => Promise<{ drain: () => Promise<void> }>
  /** Tells readiness and new requests that the end is near. */
  beginDrain: () => void
  stop: () => Promise<void>
}

// A running attempt ends by itself within Stripe's deadline; then a little for settling.
const DRAIN_MS = 12 * SECOND_MS

/** Opens everything a process needs. Fails with an AppError that says what to do. */
export const openRuntime = async (
  config: Config,
  url: string,
  log: Log,
  metrics: Metrics = openMetrics(),
): Promise<Runtime> => {
  const pooled = 'pooled' in config.database && config.database.pooled
  const closers: (() => Promise<unknown>)[] = []
  const open: Open = async (name, size, timeouts = {}) => {
    const options = { ...POOL_DEFAULTS, ...timeouts, url, pooled, size, name: `goodstanding-${name}` }
    const database = await openDatabase(options)
    closers.push(() => database.end())
    metrics.pool(name, database.load)
    return database
  }
  let draining = false
  try {
    const queue = await startQueue({
      url,
      supervise: config.role !== 'web',
      meterProvider: metrics.provider,
      onError: (error) => log.warn({ err: error }, 'queue.error'),
    })
    closers.push(() => queue.stop())
    const context = await openContext({ config, log, metrics, queue, open, draining: () => draining })
    return {
      context,
      startWork: () => startWork(context, url, pooled, open),
      beginDrain: () => {
        draining = true
      },
      stop: () => closeAll(closers),
    }
  } catch (error) {
    await closeAll(closers)
    throw error
  }
}

type Parts = Pick<Context, 'config' | 'log' | 'metrics' | 'queue' | 'draining'> & { open: Open }

const openContext = async ({ open, ...parts }: Parts): Promise<Context> => {
  const { config, log, queue } = parts
  const accounts = openAccounts(config)
  await queue.prepare(accounts.all.map(({ name }) => name))
  const api = await open('api', 4, { statementTimeoutMs: 15 * SECOND_MS, lockTimeoutMs: 10 * SECOND_MS })
  await refuseShiftedClock(config, api)
  parts.metrics.gauges(openGauges(api, Date.now))
  const catalog = loadCatalog(config.catalogFile, log)
  const activate = () => api.transaction((tx) => activateCatalog(tx, catalog.current()))
  await activate()
  return {
    ...parts,
    ingest: await open('ingest', 4, { statementTimeoutMs: 4 * SECOND_MS, lockTimeoutMs: 2 * SECOND_MS }),
    api,
    accounts,
    budget: openBudget(api, config.stripe.requestsPerSecond, Date.now, parts.metrics.stripeCall),
    catalog: catalog.current,
    refreshCatalog: async () => {
      if (!catalog.refresh()) return false
      await activate()
      return true
    },
    tokens: createTokenCheck(config.tokensFile, Date.now, (problems) =>
      log.error({ problems, alert: 'tokens_file_invalid' }, 'tokens.kept'),
    ),
    now: Date.now,
    pinLivemode: await pinAccounts(config, api, accounts.all),
  }
}

const POOL_DEFAULTS = {
  statementTimeoutMs: 10 * SECOND_MS,
  lockTimeoutMs: 5 * SECOND_MS,
  idleInTransactionTimeoutMs: 15 * SECOND_MS,
  acquireTimeoutMs: 5 * SECOND_MS,
}

// A clock offset is for tests and the demo; with real money it would grant or end access at the wrong time.
const refuseShiftedClock = async (config: Config, api: Database) => {
  if (config.accounts.some(({ livemode }) => livemode === true) && (await api.run(hasClockOffset))) {
    throw new AppError('clock/shifted_with_live_account')
  }
}

const closeAll = async (closers: (() => Promise<unknown>)[]) => {
  for (const close of closers.splice(0).toReversed()) await close().catch(() => {})
}

const pinAccounts = async (config: Config, api: Database, accounts: readonly StripeAccount[]) => {
  const modes = new Map<string, boolean | null>()
  for (const { name, livemode } of accounts) {
    const row = await api.run((db) => pinAccount(db, { account: name, livemode }))
    if (livemode !== null && row.livemode !== livemode) {
      throw new AppError('account/mode_changed', { account: name, pinned: row.livemode ? 'live' : 'test' })
    }
    modes.set(name, row.livemode)
  }
  return async ({ name }: StripeAccount, seen: boolean | null): Promise<boolean | null> => {
    const known = modes.get(name) ?? null
    if (known !== null || seen === null) return known
    const row = await api.run((db) => pinAccount(db, { account: name, livemode: seen }))
    modes.set(name, row.livemode)
    return row.livemode
  }
}

type Open = (name: string, size: number, timeouts?: Partial<DatabaseOptions>) => Promise<Database>

const startWork = async (context: Context, url: string, pooled: boolean, open: Open) => {
  const stop = new AbortController()
  const budgetPool = await open('budget', 2)
  const worker: WorkerContext = {
    ...context,
    // One connection a slot, and four for the poll, the pass, the upkeep and the sweeps.
    work: await open('work', context.config.worker.batchSize + 4, { statementTimeoutMs: 10 * SECOND_MS }),
    reserve: await open('reserve', 1),
    budget: openBudget(
      budgetPool,
      context.config.stripe.requestsPerSecond,
      Date.now,
      context.metrics.stripeCall,
    ),
    stop: stop.signal,
    worker: `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`.slice(0, 200),
    version: VERSION,
  }
  const running = startWorker(worker)
  const upkeep = startUpkeep(worker, running.wake)
  const sweeps = startSweeps(worker, running.wake)
  const listener = pooled ? null : listenForJobs(url, running.wake)
  return {
    drain: async () => {
      const late = setTimeout(() => stop.abort(), DRAIN_MS)
      await Promise.all([running.drain(), upkeep.stop(), sweeps.stop()])
      clearTimeout(late)
      await listener?.stop()
    },
  }
}
