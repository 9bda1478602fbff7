// How we speak to PostgreSQL: rows are checked, transactions pinned, waits bounded, broken connections replaced.
import { connect, createServer, type Socket } from 'node:net'
import { sql } from 'slonik'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { isConnectionLoss } from '../../src/postgres/failure.ts'
import { openDatabase, rollBackWith, type DatabaseOptions, type Queries } from '../../src/postgres/pool.ts'
import { testDatabase } from '../harness/database.ts'

const open = async (over: Partial<DatabaseOptions> = {}) => {
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
const pid = (db: Queries) =>
  db.oneFirst(sql.type(z.strictObject({ pid: z.number() }))`select pg_backend_pid() as pid`)
const setting = (db: Queries, name: string) =>
  db.oneFirst(sql.type(z.strictObject({ value: z.string() }))`select current_setting(${name}) as value`)

test('a row of the wrong type is an error, not a surprise later', async () => {
  const { database } = await open()

  await expect(
    database.run((db) => db.one(sql.type(z.strictObject({ x: z.string() }))`select 1 as x`)),
  ).rejects.toThrow(/./)
  await expect(
    database.run((db) => db.one(sql.type(z.strictObject({ x: z.number() }))`select 1 as x, 2 as y`)),
  ).rejects.toThrow(/./)
})

test('instants arrive as milliseconds, big and exact numbers as numbers', async () => {
  const { database } = await open()
  const row = z.strictObject({
    at: z.number(),
    zoned: z.number(),
    big: z.number(),
    exact: z.number(),
    none: z.null(),
  })

  const read = await database.run((db) =>
    db.one(sql.type(row)`
      select '2026-12-01 10:00:00.25+00'::timestamptz as at, '2026-12-01 10:00:00+05:30'::timestamptz as zoned,
        9007199254740991::bigint as big, 1.5::numeric as exact, null::timestamptz as none
    `),
  )

  expect(read).toEqual({
    at: Date.UTC(2026, 11, 1, 10, 0, 0, 250),
    zoned: Date.UTC(2026, 11, 1, 4, 30),
    big: Number.MAX_SAFE_INTEGER,
    exact: 1.5,
    none: null,
  })
})

test.each([
  [false, 'goodstanding statements have names'],
  [true, 'behind a pooler they have none'],
])('pooled %s: %s', async (pooled) => {
  const { database } = await open({ pooled })

  const names = await database.run(async (db) => {
    await pid(db)
    return db.anyFirst(
      sql.type(z.strictObject({ name: z.string() }))`select name from pg_prepared_statements`,
    )
  })

  expect(names.length > 0).toBe(!pooled)
})

test.each([false, true])(
  'transactions are READ COMMITTED with our time-outs whatever the server says (pooled: %s)',
  async (pooled) => {
    const { database, query } = await open({ pooled })
    await query(
      "do $$ begin execute format('alter database %I set default_transaction_isolation = serializable', current_database()); end $$",
    )

    const settings = await database.transaction(async (tx) => [
      await setting(tx, 'transaction_isolation'),
      await setting(tx, 'lock_timeout'),
      await setting(tx, 'statement_timeout'),
      await setting(tx, 'idle_in_transaction_session_timeout'),
    ])

    expect(settings).toEqual(['read committed', '500ms', '2s', '1s'])
  },
)

test('rolling back on purpose undoes the writes, returns the value and keeps the connection', async () => {
  const { database, query } = await open()
  await query('create table t (x int)')
  const before = await database.run(pid)

  const value = await database.transaction(async (tx) => {
    await tx.query(sql.unsafe`insert into t values (1)`)
    return rollBackWith('undone')
  })

  expect(value).toBe('undone')
  expect(await query('select * from t')).toEqual([])
  expect(await database.run(pid)).toBe(before)
})

test('a failed statement rolls back, is rethrown as it was, and keeps the connection', async () => {
  const { database } = await open()
  const before = await database.run(pid)
  const failure = Object.assign(new Error('ours'), { code: '40404' })
  let runs = 0

  await expect(
    database.transaction(async () => {
      runs += 1
      throw failure
    }),
  ).rejects.toBe(failure)
  await expect(database.transaction((tx) => tx.query(sql.unsafe`select 1 / 0`))).rejects.toThrow(/./)

  expect(runs).toBe(1)
  expect(await database.run(pid)).toBe(before)
})

test('a backend that is terminated while a transaction waits is replaced; the process lives on', async () => {
  const { database, query } = await open()

  const failed = database.transaction(async (tx) => {
    await query('select pg_terminate_backend($1)', [await pid(tx)])
    await new Promise((resolve) => setTimeout(resolve, 50))
    return pid(tx)
  })

  await expect(failed).rejects.toSatisfy(isConnectionLoss)
  expect(await database.run(pid)).toBeGreaterThan(0)
})

test('a transaction whose connection is lost is not over before its work is', async () => {
  const { database, query } = await open()
  let working = true

  const failed = database.transaction(async (tx) => {
    const backend = await pid(tx)
    await query('select pg_terminate_backend($1)', [backend])
    await new Promise((resolve) => setTimeout(resolve, 200))
    working = false
  })

  await expect(failed).rejects.toSatisfy(isConnectionLoss)
  expect(working).toBe(false)
})

test('a transaction that idles too long is ended by the server', async () => {
  const { database } = await open({ idleInTransactionTimeoutMs: 100 })

  const failed = database.transaction(async (tx) => {
    await pid(tx)
    await new Promise((resolve) => setTimeout(resolve, 400))
    return pid(tx)
  })

  await expect(failed).rejects.toSatisfy(isConnectionLoss)
  expect(await database.run(pid)).toBeGreaterThan(0)
})

test('a server that answers nothing any more is given up within the deadline, and the pool heals', async () => {
  const { url } = await testDatabase()
  const proxy = await startProxy(new URL(url))
  const { database } = await open({ url: proxy.url, statementTimeoutMs: 500, acquireTimeoutMs: 3_000 })
  await database.run(pid)

  proxy.freeze()
  const failed = database.run(pid)

  await expect(failed).rejects.toMatchObject({ code: 'postgres/no_answer' })
  proxy.thaw()
  expect(await database.run(pid)).toBeGreaterThan(0)
})

test('nobody waits for a connection without a bound', async () => {
  const { database } = await open()
  let release = () => {}
  const holds = database.run(() => new Promise<void>((resolve) => (release = resolve)))

  await expect(database.run(pid)).rejects.toMatchObject({ code: 'postgres/busy' })

  release()
  await holds
  expect(await database.run(pid)).toBeGreaterThan(0)
})

const startProxy = async (target: URL) => {
  let frozen = false
  const sockets: Socket[] = []
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    sockets.push(client, upstream)
    client.on('data', (data) => (frozen ? null : upstream.write(data)))
    upstream.on('data', (data) => (frozen ? null : client.write(data)))
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('close', () => other.destroy())
      one.on('error', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const url = new URL(target)
  url.port = String((server.address() as { port: number }).port)
  return {
    url: url.toString(),
    freeze: () => {
      frozen = true
    },
    thaw: () => {
      frozen = false
    },
  }
}
