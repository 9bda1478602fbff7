// What an effect may use, as types: built once by runtime.ts, passed on, never reached for globally.
import type { Config } from './config.ts'
import type { Catalog } from './entitlements/catalog.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Database } from './postgres/pool.ts'
import type { Queue } from './postgres/queue.ts'
import type { Budget } from './stripe/budget.ts'
import type { StripeAccount, StripeAccounts } from './stripe/accounts.ts'
import type { Instant } from './time.ts'
import type { TokenCheck } from './tokens.ts'

/** The catalog in force, with the hash that its reads are stamped with. */
export type CatalogInForce = { catalog: Catalog; hash: string }

/** What every role needs. */
export type Context = {
  config: Config
  log: Log
  metrics: Metrics
  /** Webhooks: insert + enqueue. Slow Stripe calls must never reach this pool. */
  ingest: Database
  /** API reads, links by API, operators. */
  api: Database
  queue: Queue
  accounts: StripeAccounts
  /** The shared budget of Stripe calls, spent outside of any transaction. */
  budget: Budget
  catalog: () => CatalogInForce
  /** Reads the catalog file again where it changed. True where another one is in force now. */
  refreshCatalog: () => Promise<boolean>
  tokens: TokenCheck
  /** Has the process been asked to stop? */
  draining: () => boolean
  /** Wall clock: webhook signatures and token expiry. Rules and rows use goodstanding.clock(). */
  now: () => Instant
  /** Mode of an account (true = real money), pinned by the first verified event where no key says it. */
  pinLivemode: (account: StripeAccount, livemode: boolean | null) => Promise<boolean | null>
}

/** What the worker needs besides. */
export type WorkerContext = Context & {
  /** One connection a slot: claim, effect and settlement in one transaction. */
  work: Database
  /** Kept free for recording an attempt whose own transaction could not be settled. */
  reserve: Database
  /** Fires when running attempts must end now (second signal, or the drain took too long). */
  stop: AbortSignal
  /** This process in event_attempts. */
  worker: string
  version: string
}
