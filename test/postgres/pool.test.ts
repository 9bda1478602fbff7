// How we speak to PostgreSQL: rows are checked, statements named, transactions pinned, waits bounded. Broken
// connections: connections.test.ts.
import { SchemaValidationError, sql } from 'slonik'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { rollBackWith, type Queries } from '../../src/postgres/pool.ts'
import { openSpecDatabase as open } from '../harness/spec-database.ts'

const pid = (db: Queries) =>
  db.oneFirst(sql.type(z.strictObject({ pid: z.number() }))`select pg_backend_pid() as pid`)
const setting = (db: Queries, name: string) =>
  db.oneFirst(sql.type(z.strictObject({ value: z.string() }))`select current_setting(${name}) as value`)

test('a row of the wrong type is an error, not a surprise later', async () => {
  const { database } = await open()

  await expect(
    database.run((db) => db.one(sql.type(z.strictObject({ x: z.string() }))`select 1 as x`)),
  ).rejects.toBeInstanceOf(SchemaValidationError)
  await expect(
    database.transaction((tx) => tx.any(sql.type(z.strictObject({ x: z.number() }))`select 1 as x, 2 as y`)),
  ).rejects.toBeInstanceOf(SchemaValidationError)
})

test.each([
  ["'2026-12-01 10:00:00+00'::timestamptz", Date.UTC(2026, 11, 1, 10)],
  ["'2026-12-01 10:00:00.25+00'::timestamptz", Date.UTC(2026, 11, 1, 10, 0, 0, 250)],
  ["'2026-12-01 10:00:00.123456+00'::timestamptz", Date.UTC(2026, 11, 1, 10, 0, 0, 123)],
  ["'2026-12-01 10:00:00+05:30'::timestamptz", Date.UTC(2026, 11, 1, 4, 30)],
  ["'2026-12-01 10:00:00-09:30'::timestamptz", Date.UTC(2026, 11, 1, 19, 30)],
  ["'1970-01-01 00:00:00+00'::timestamptz", 0],
  ["'9998-12-31 23:59:59+00'::timestamptz", Date.UTC(9998, 11, 31, 23, 59, 59)],
  ['null::timestamptz', null],
  ['9007199254740991::bigint', Number.MAX_SAFE_INTEGER],
  ['(-5)::bigint', -5],
  ['1.5::numeric', 1.5],
  ['null::numeric', null],
])('%s arrives as %s, whatever the time zone of the session', async (text, value) => {
  const { database } = await open()
  const read = (zone: string) =>
    database.transaction(async (tx) => {
      await tx.query(sql.unsafe`select set_config('timezone', ${zone}, true)`)
      return tx.oneFirst({
        ...sql.type(z.strictObject({ value: z.number().nullable() }))``,
        sql: `select ${text} as value`,
      })
    })

  expect([await read('UTC'), await read('Asia/Kolkata'), await read('America/St_Johns')]).toEqual([
    value,
    value,
    value,
  ])
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
      "do $$ begin execute format('alter database %I set default_transaction_isolation = ''repeatable read''', current_database()); end $$",
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

test('nobody waits for a connection without a bound', async () => {
  const { database } = await open()
  let release = () => {}
  const holds = database.run(() => new Promise<void>((resolve) => (release = resolve)))

  await expect(database.run(pid)).rejects.toMatchObject({ code: 'postgres/busy' })

  release()
  await holds
  expect(await database.run(pid)).toBeGreaterThan(0)
})
