// Our own pool over a database of one's own, with time-outs that a spec can wait for.
import { onTestFinished } from 'vitest'
import { openDatabase, type DatabaseOptions } from '../../src/postgres/pool.ts'
import { startQueue } from '../../src/postgres/queue.ts'
import { testDatabase } from './database.ts'

/** `query` goes around the pool. */
export const openSpecDatabase = async (over: Partial<DatabaseOptions> = {}) => {
  const { url, query } = await testDatabase()
  const database = await openDatabase({
    url,
    name: 'spec',
    size: 1,
    pooled: false,
    statementTimeoutMs: 2_000,
    lockTimeoutMs: 500,
    idleInTransactionTimeoutMs: 1_000,
    acquireTimeoutMs: 300,
    ...over,
  })
  onTestFinished(() => database.end(100))
  return { database, query, url }
}

/** The same with the queues of the account `default`. */
export const openSpecQueue = async (over: Partial<DatabaseOptions> = {}) => {
  const opened = await openSpecDatabase({ size: 2, acquireTimeoutMs: 1_000, ...over })
  const queue = await startQueue({ url: opened.url, supervise: false, onError: () => {} })
  await queue.prepare(['default'])
  onTestFinished(() => queue.stop())
  return { ...opened, queue }
}
