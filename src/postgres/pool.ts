// How we speak to PostgreSQL: slonik pools that validate rows, name statements, pin READ COMMITTED, never wait
// without a bound, and destroy a client whose answer does not come. Must never log statements or values.
import { createPgDriverFactory } from '@slonik/pg-driver'
import {
  createPool,
  type CommonQueryMethods,
  type DatabasePool,
  type DatabasePoolConnection,
  type DatabaseTransactionConnection,
  type DriverFactory,
  stringifyDsn,
  parseDsn,
  sql,
} from 'slonik'
import { AppError } from '../errors.ts'
import { isConnectionLoss } from './failure.ts'
import { createGate } from './gate.ts'
import { nameStatements, typeParsers, validateRows } from './rows.ts'

/** Anything that can run one statement: a connection outside or inside a transaction. */
export type Queries = CommonQueryMethods
/** Says what you hold: statements through it commit or roll back together. */
export type Transaction = DatabaseTransactionConnection

export type DatabaseOptions = {
  /** postgres:// URL. */
  url: string
  /** Shown in pg_stat_activity. */
  name: string
  /** Connections, opened at once and kept. */
  size: number
  /** Behind a transaction pooler: no startup parameters, no named statements. */
  pooled: boolean
  statementTimeoutMs: number
  lockTimeoutMs: number
  idleInTransactionTimeoutMs: number
  /** Longest wait for a free connection before AppError `postgres/busy`. */
  acquireTimeoutMs: number
}

export type Database = {
  /** One connection, each statement by itself. */
  run: <T>(work: (db: Queries) => Promise<T>) => Promise<T>
  /**
   * One READ COMMITTED transaction, tried once. An error rolls back and is rethrown; `rollBackWith(value)` rolls
   * back on purpose and returns the value.
   */
  transaction: <T>(work: (tx: Transaction) => Promise<T | RolledBack<T>>) => Promise<T>
  /** Callers that hold or wait for a connection now. */
  load: () => { active: number; waiting: number }
  /** Waits for those who hold a connection (at most `graceMs`), then closes. */
  end: (graceMs?: number) => Promise<void>
}

export type RolledBack<T> = { readonly rolledBack: true; readonly value: T }
/** What a transaction returns to undo itself without being an error. */
export const rollBackWith = <T>(value: T): RolledBack<T> => ({ rolledBack: true, value })

const isRolledBack = <T>(result: T | RolledBack<T>): result is RolledBack<T> =>
  typeof result === 'object' && result !== null && 'rolledBack' in result

/** The same database, whose transactions do all their work and are undone: what would happen, and nothing does. */
export const undoing = (database: Database): Database => ({
  ...database,
  transaction: (work) =>
    database.transaction(async (tx) => {
      const result = await work(tx)
      return isRolledBack(result) ? result : rollBackWith(result)
    }),
})

/** Opens a pool. Connects once to learn the database's type ids, so it fails where the database is away. */
export const openDatabase = async (options: DatabaseOptions): Promise<Database> => {
  const pool = await createPool(dsn(options), {
    driverFactory: deadlineDriver(options.statementTimeoutMs + 1_000),
    connectionTimeout: Math.min(5_000, options.acquireTimeoutMs),
    connectionRetryLimit: 1,
    statementTimeout: options.pooled ? 'DISABLE_TIMEOUT' : options.statementTimeoutMs,
    idleInTransactionSessionTimeout: options.pooled ? 'DISABLE_TIMEOUT' : options.idleInTransactionTimeoutMs,
    idleTimeout: 'DISABLE_TIMEOUT',
    gracefulTerminationTimeout: 500,
    maxPoolSize: options.size,
    minPoolSize: 0,
    queryRetryLimit: 0,
    transactionRetryLimit: 0,
    // Only transaction-scoped state is ever set, and DISCARD ALL would drop the named statements.
    resetConnection: async () => {},
    typeParsers,
    interceptors: [validateRows, ...(options.pooled ? [] : [nameStatements()])],
  })
  // Idle connections that the server ended are slonik's to replace; without a listener they would end the process.
  pool.on('error', () => {})
  return boundedDatabase(pool, options)
}

const boundedDatabase = (pool: DatabasePool, options: DatabaseOptions): Database => {
  const gate = createGate(options.size, options.acquireTimeoutMs)
  return {
    run: (work) => gate.through(() => connectWhole(pool, (connection) => work(connection))),
    transaction: (work) =>
      gate.through(() =>
        transactionOn(pool, async (tx) => {
          if (options.pooled) await setTimeouts(tx, options)
          return work(tx)
        }),
      ),
    load: gate.load,
    end: async (graceMs = 5_000) => {
      await gate.close(graceMs)
      await pool.end()
    },
  }
}

// slonik gives a lost connection up at once and leaves the callback running. Nobody expects work to go on after its
// call has failed (it may still take a claim, or leave a lock in memory), so the failure waits for it.
const connectWhole = async <T>(
  pool: DatabasePool,
  work: (connection: DatabasePoolConnection) => Promise<T>,
): Promise<T> => {
  let running: Promise<unknown> = Promise.resolve()
  try {
    return await pool.connect((connection) => {
      const done = work(connection)
      running = done
      return done
    })
  } catch (error) {
    await running.catch(() => {})
    throw error
  }
}

// An error that leaves pool.connect destroys the connection (6 ms to make a new one). After a plain rollback the
// connection is sound, so such errors are carried out as values.
const transactionOn = async <T>(
  pool: DatabasePool,
  work: (tx: Transaction) => Promise<T | RolledBack<T>>,
): Promise<T> => {
  let first: { error: unknown } | null = null
  const outcome = await connectWhole(pool, async (connection) => {
    try {
      const value = await connection.transaction(async (tx) => {
        try {
          const result = await work(tx)
          if (isRolledBack(result)) throw new Undo(result.value)
          return result
        } catch (error) {
          first ??= { error }
          throw error
        }
      }, 0)
      return { value }
    } catch (error) {
      if (error instanceof Undo) return { value: error.value as T }
      if (isConnectionLoss(error)) throw first?.error ?? error
      return { error: first?.error ?? error }
    }
  })
  if ('error' in outcome) throw outcome.error
  return outcome.value
}

class Undo extends Error {
  readonly value: unknown
  constructor(value: unknown) {
    super('rolled back on purpose')
    this.value = value
  }
}

const setTimeouts = (tx: Transaction, options: DatabaseOptions) =>
  tx.query(sql.unsafe`
    select
      set_config('statement_timeout', ${String(options.statementTimeoutMs)}, true),
      set_config('lock_timeout', ${String(options.lockTimeoutMs)}, true),
      set_config('idle_in_transaction_session_timeout', ${String(options.idleInTransactionTimeoutMs)}, true)
  `)

const dsn = (options: DatabaseOptions): string => {
  const parts = parseDsn(options.url)
  return stringifyDsn({
    ...parts,
    applicationName: options.name,
    ...(options.pooled ? {} : { options: `-c lock_timeout=${options.lockTimeoutMs}` }),
  })
}

// A frozen server answers nothing, and no server-side timeout helps: the client gives up by itself and its
// connection is destroyed, because a late answer would reach the next user.
const deadlineDriver = (deadlineMs: number): DriverFactory => {
  const plain = createPgDriverFactory()
  return async (setup) => {
    const driver = await plain(setup)
    return {
      createClient: async () => {
        const client = await driver.createClient()
        return {
          ...client,
          query: async (text, values, queryOptions) => {
            const statement =
              text === 'START TRANSACTION' ? 'START TRANSACTION ISOLATION LEVEL READ COMMITTED' : text
            let timer: NodeJS.Timeout | undefined
            const late = new Promise<never>((_resolve, reject) => {
              timer = setTimeout(() => {
                void client.destroy().catch(() => {})
                reject(new AppError('postgres/no_answer', { deadline_ms: deadlineMs }))
              }, deadlineMs)
            })
            try {
              return await Promise.race([client.query(statement, values, queryOptions), late])
            } finally {
              clearTimeout(timer)
            }
          },
        }
      },
    }
  }
}
