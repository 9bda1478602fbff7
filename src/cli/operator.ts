// What operators' commands stand on: one connection to the configured database, closed when the command ends.
import type { Config } from '../config.ts'
import { openDatabase, type Database } from '../postgres/pool.ts'
import { startQueue, type Queue } from '../postgres/queue.ts'
import { SECOND_MS } from '../time.ts'
import { withDatabaseUrl } from './database-url.ts'
import type { Out } from './program.ts'

/** Who does it and why: required of every command that writes, and recorded. */
export type Signed = { operator: string; reason: string }

export const withOperatorDatabase = (
  config: Config,
  out: Out,
  work: (database: Database, url: string) => Promise<number>,
): Promise<number> =>
  withDatabaseUrl(config, out.problem, async (url) => {
    const database = await openDatabase({
      url,
      name: 'goodstanding-operator',
      size: 1,
      pooled: 'pooled' in config.database && config.database.pooled,
      statementTimeoutMs: 10 * SECOND_MS,
      lockTimeoutMs: 5 * SECOND_MS,
      idleInTransactionTimeoutMs: 15 * SECOND_MS,
      acquireTimeoutMs: 5 * SECOND_MS,
    })
    try {
      return await work(database, url)
    } finally {
      await database.end()
    }
  })

/** The same with the queue, for commands that send jobs. */
export const withOperatorQueue = (
  config: Config,
  out: Out,
  work: (database: Database, queue: Queue) => Promise<number>,
): Promise<number> =>
  withOperatorDatabase(config, out, async (database, url) => {
    const queue = await startQueue({ url, supervise: false, onError: (error) => out.problem(error.message) })
    try {
      return await work(database, queue)
    } finally {
      await queue.stop()
    }
  })
