// Connections break, freeze and run out: the failure is told within a bound, a new connection takes the place of the
// old one, and the process lives on.
import { sql } from 'slonik'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { isConnectionLoss } from '../../src/postgres/failure.ts'
import type { Queries } from '../../src/postgres/pool.ts'
import { startProxy } from '../harness/proxy.ts'
import { openSpecDatabase as open } from '../harness/spec-database.ts'
import { until } from '../harness/service.ts'

const pid = (db: Queries) =>
  db.oneFirst(sql.type(z.strictObject({ pid: z.number() }))`select pg_backend_pid() as pid`)

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
  const { proxy, database } = await openThroughProxy()
  await database.run(pid)

  proxy.freeze()
  const failed = database.run(pid)

  await expect(failed).rejects.toMatchObject({ code: 'postgres/no_answer' })
  proxy.thaw()
  expect(await database.run(pid)).toBeGreaterThan(0)
})

test('a server that freezes inside a transaction is given up, too, and nothing of it was committed', async () => {
  const { proxy, database, query } = await openThroughProxy()
  await query('create table t (x int)')

  const failed = database.transaction(async (tx) => {
    await tx.query(sql.unsafe`insert into t values (1)`)
    proxy.freeze()
    await pid(tx)
  })

  await expect(failed).rejects.toMatchObject({ code: 'postgres/no_answer' })
  proxy.thaw()
  expect(await database.run(pid)).toBeGreaterThan(0)
  expect(await query('select * from t')).toEqual([])
})

test('an idle connection that the server ends is replaced before anybody needs it', async () => {
  const { database, query } = await open()
  const before = await database.run(pid)

  await query('select pg_terminate_backend($1)', [before])
  await until('it is gone', async () => {
    const alive = await query('select 1 from pg_stat_activity where pid = $1', [before])
    return alive.length === 0
  })
  await until('the pool has healed', () =>
    database.run(pid).then(
      (now) => now !== before,
      () => false,
    ),
  )

  expect(await database.run(pid)).not.toBe(before)
})

test('the end waits for a transaction that runs, then nobody gets in', async () => {
  const { database, query } = await open()
  await query('create table t (x int)')
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const running = database.transaction(async (tx) => {
    await tx.query(sql.unsafe`insert into t values (1)`)
    await released
    return pid(tx)
  })
  await until(
    'it runs',
    async () =>
      (
        await query(
          "select 1 from pg_stat_activity where state = 'idle in transaction' and application_name = 'spec' and datname = current_database()",
        )
      ).length === 1,
  )

  const ending = database.end(5_000)
  await expect(database.run(pid)).rejects.toMatchObject({ code: 'postgres/closed' })
  release()

  expect(await running).toBeGreaterThan(0)
  await ending
  expect(await query('select x from t')).toEqual([{ x: 1 }])
})

test('the end does not wait for ever', async () => {
  const { database } = await open({ idleInTransactionTimeoutMs: 60_000 })
  let release = () => {}
  const stuck = database.run(() => new Promise<void>((resolve) => (release = resolve)))

  const startedAt = performance.now()
  await database.end(50)

  expect(performance.now() - startedAt).toBeLessThan(3_000)
  release()
  await stuck
})

test('a database that is away is an error of opening, not a wait', async () => {
  const { url, proxy } = await openThroughProxy()
  await proxy.close()

  await expect(open({ url })).rejects.toSatisfy(isConnectionLoss)
})

test.each([
  ['57P01', true],
  ['57P03', true],
  ['08006', true],
  ['53300', true],
  ['ECONNREFUSED', true],
  ['ECONNRESET', true],
  ['57014', false],
  ['55P03', false],
  ['40001', false],
  ['40P01', false],
  ['23505', false],
])('the code %s means a lost connection: %s', (code, lost) => {
  const inner = Object.assign(new Error('inner'), { code })

  expect(isConnectionLoss(inner)).toBe(lost)
  expect(isConnectionLoss(new Error('wrapped', { cause: inner }))).toBe(lost)
})

const openThroughProxy = async () => {
  const { url: direct, query } = await open()
  const proxy = await startProxy(new URL(direct))
  const { database } = await open({
    url: proxy.url,
    statementTimeoutMs: 500,
    idleInTransactionTimeoutMs: 10_000,
    acquireTimeoutMs: 3_000,
  })
  return { proxy, database, query, url: proxy.url }
}
