// What operators' commands stand on: the configured database, the queue and Stripe, closed when the command ends.
import type { Config } from '../config.ts'
import { catalogOf } from '../entitlements/catalog.ts'
import type { CatalogInForce } from '../context.ts'
import { createLog } from '../log.ts'
import type { Parts } from '../operate/parts.ts'
import { findCatalogAt } from '../operate/why-queries.ts'
import { openDatabase, undoing, type Database } from '../postgres/pool.ts'
import { startQueue } from '../postgres/queue.ts'
import { openAccounts } from '../stripe/accounts.ts'
import { openBudget } from '../stripe/budget.ts'
import { SECOND_MS, type Instant } from '../time.ts'
import { readCatalog } from './catalog-file.ts'
import { withDatabaseUrl } from './database-url.ts'
import type { Out } from './program.ts'
import { requireSchema } from './schema.ts'

type Around = { out: Out; now: () => Instant; dryRun: boolean }

/** Opens everything that an action may need, runs `work`, and closes it. */
export const withParts = (
  config: Config,
  { out, now, dryRun }: Around,
  work: (parts: Parts) => Promise<number>,
): Promise<number> =>
  withDatabaseUrl(config, out.problem, async (url) => {
    await requireSchema(url)
    const database = await openDatabase({
      url,
      name: 'goodstanding-operator',
      size: 2,
      pooled: 'pooled' in config.database && config.database.pooled,
      statementTimeoutMs: 10 * SECOND_MS,
      lockTimeoutMs: 5 * SECOND_MS,
      idleInTransactionTimeoutMs: 15 * SECOND_MS,
      acquireTimeoutMs: 5 * SECOND_MS,
    })
    const queue = await startQueue({ url, supervise: false, onError: (error) => out.problem(error.message) })
    const stop = new AbortController()
    try {
      const catalog = await catalogInForce(database, config)
      return await work({
        accounts: openAccounts(config),
        log: createLog({ level: 'silent' }),
        now,
        database: dryRun ? undoing(database) : database,
        queue,
        catalog: () => catalog,
        budget: openBudget(database, config.stripe.requestsPerSecond, now),
        stop: stop.signal,
        recoveryObjectiveMs: config.recoveryObjectiveMs,
        maxRevocations: config.drift.maxRevocations,
        dryRun,
        progress: out.progress ?? (() => {}),
      })
    } finally {
      stop.abort()
      await queue.stop()
      await database.end()
    }
  })

// The one that the workers decide by; an operator's machine need not have the file.
const catalogInForce = async (database: Database, config: Config): Promise<CatalogInForce> => {
  const row = await database.run((db) => findCatalogAt(db, null))
  return row === null
    ? readCatalog(config.catalogFile)
    : { catalog: catalogOf(row.body), hash: row.catalog_hash }
}
