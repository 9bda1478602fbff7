// pg-boss on our transactions: a roll-back undoes everything, and nothing is taken, lost or announced outside of them.
import { expect, test } from 'vitest'
import { DEAD_QUEUE, eventQueue } from '../../src/jobs.ts'
import { rollBackWith } from '../../src/postgres/pool.ts'
import type { Claim } from '../../src/postgres/queue.ts'
import { until } from '../harness/service.ts'
import { openSpecQueue } from '../harness/spec-database.ts'

const QUEUE = eventQueue('default')
const job = (group: string) => ({ data: { group }, group })

const open = async () => {
  const { query, queue, database } = await openSpecQueue({
    statementTimeoutMs: 5_000,
    idleInTransactionTimeoutMs: 5_000,
  })
  const states = () =>
    query<{ state: string }>('select state from pgboss.job where name = $1 order by created_on', [
      QUEUE,
    ]).then((rows) => rows.map(({ state }) => state))
  return { query, queue, database, states }
}

test('a job that is enqueued in a transaction that rolls back never was', async () => {
  const { queue, database, states } = await open()

  await database.transaction(async (tx) => {
    await queue.enqueue(tx, QUEUE, [job('a')])
    return rollBackWith(null)
  })
  await database.transaction((tx) => queue.enqueue(tx, QUEUE, [job('b')]))

  expect(await states()).toEqual(['created'])
})

test('a queue that does not exist, and an id that is taken, are errors', async () => {
  const { queue, database } = await open()
  const [id = ''] = await database.transaction((tx) => queue.enqueue(tx, QUEUE, [job('a')]))

  await expect(
    database.transaction((tx) => queue.enqueue(tx, QUEUE, [{ ...job('b'), id }])),
  ).rejects.toMatchObject({ code: 'queue/not_enqueued' })
  await expect(database.transaction((tx) => queue.enqueue(tx, 'nowhere', [job('b')]))).rejects.toThrow(
    /nowhere/,
  )
})

test('a claim that is rolled back spends nothing, and busy groups are left out', async () => {
  const { queue, database } = await open()
  await database.transaction((tx) => queue.enqueue(tx, QUEUE, [job('a'), job('b')]))

  const first = await database.transaction(async (tx) => rollBackWith(await queue.claim(tx, QUEUE, [])))
  const second = await database.transaction(async (tx) => rollBackWith(await queue.claim(tx, QUEUE, ['a'])))
  const none = await database.transaction(async (tx) =>
    rollBackWith(await queue.claim(tx, QUEUE, ['a', 'b'])),
  )

  expect(first).toMatchObject({ group: 'a', retryCount: 0 } satisfies Partial<Claim>)
  expect(second).toMatchObject({ group: 'b', retryCount: 0 })
  expect(none).toBeNull()
})

test('while one transaction holds a claim, another gets the next job', async () => {
  const { queue, database } = await open()
  await database.transaction((tx) => queue.enqueue(tx, QUEUE, [job('a'), job('b')]))

  // Each holds its claim until the other has one.
  const held: (string | undefined)[] = []
  const claimAndHold = () =>
    database.transaction(async (tx) => {
      held.push((await queue.claim(tx, QUEUE, []))?.group)
      await until('both hold a claim', () => held.length === 2)
      return rollBackWith(null)
    })
  await Promise.all([claimAndHold(), claimAndHold()])

  expect(new Set(held)).toEqual(new Set(['a', 'b']))
})

test('complete, retry with a delay, reschedule, completeQueued, remove and isLive do what they say', async () => {
  const { queue, database, query, states } = await open()
  // One by one: the jobs of one call have the same age.
  const enqueue = async (group: string) =>
    (await database.transaction((tx) => queue.enqueue(tx, QUEUE, [job(group)])))[0] ?? ''
  const [a, b, c] = [await enqueue('a'), await enqueue('b'), await enqueue('c')]
  const due = () =>
    database.transaction(async (tx) => rollBackWith((await queue.claim(tx, QUEUE, []))?.group ?? null))
  const live = (id: string) => database.transaction((tx) => queue.isLive(tx, QUEUE, id))

  await database.transaction(async (tx) =>
    queue.complete(tx, (await queue.claim(tx, QUEUE, [])) as Claim, { code: 'done' }),
  )
  await database.transaction(async (tx) =>
    queue.retry(tx, (await queue.claim(tx, QUEUE, [])) as Claim, 'later', 60_000),
  )
  expect(await states()).toEqual(['completed', 'retry', 'created'])
  expect([await live(a), await live(b), await live(c)]).toEqual([false, true, true])
  expect(await due()).toBe('c')
  expect(await database.transaction((tx) => queue.completeQueued(tx, QUEUE, c, { code: 'x' }))).toBe(true)
  expect(await database.transaction((tx) => queue.completeQueued(tx, QUEUE, c))).toBe(false)
  expect(await due()).toBeNull()
  expect(await database.transaction((tx) => queue.reschedule(tx, QUEUE, b, 0))).toBe(true)
  expect(await due()).toBe('b')
  expect(await database.transaction((tx) => queue.reschedule(tx, QUEUE, a, 0))).toBe(false)
  await database.transaction((tx) => queue.remove(tx, QUEUE, b))
  expect(await live(b)).toBe(false)
  expect(await query('select output from pgboss.job where id = $1', [a])).toEqual([
    { output: { code: 'done' } },
  ])
})

test('waiting jobs are kept for years, done ones for days', async () => {
  const { query } = await open()

  const rows = await query<{ name: string; retention_seconds: number; deletion_seconds: number }>(
    'select name, retention_seconds, deletion_seconds from pgboss.queue order by 1',
  )

  expect(rows.map(({ name }) => name)).toEqual([DEAD_QUEUE, QUEUE, 'customer.reconcile.default'])
  for (const row of rows)
    expect([row.retention_seconds > 9 * 365 * 86_400, row.deletion_seconds]).toEqual([true, 2 * 86_400])
})

test('a claim of another transaction, and one that is over, cannot be settled', async () => {
  const { queue, database } = await open()
  await database.transaction((tx) => queue.enqueue(tx, QUEUE, [job('a')]))
  const claim = await database.transaction(async (tx) => rollBackWith(await queue.claim(tx, QUEUE, [])))
  const settle = (how: 'complete' | 'retry') =>
    database.transaction((tx) =>
      how === 'complete'
        ? queue.complete(tx, claim as Claim)
        : queue.retry(tx, claim as Claim, 'later', null),
    )

  await expect(settle('complete')).rejects.toMatchObject({ code: 'queue/claim_lost' })
  await database.transaction(async (tx) => queue.complete(tx, (await queue.claim(tx, QUEUE, [])) as Claim))
  await expect(settle('retry')).rejects.toMatchObject({ code: 'queue/claim_lost' })
})

test('a claimed job still shows as waiting to others, so that nobody sends it again', async () => {
  const { queue, database } = await open()
  const [id = ''] = await database.transaction((tx) => queue.enqueue(tx, QUEUE, [job('a')]))

  const live = await database.transaction(async (tx) => {
    await queue.claim(tx, QUEUE, [])
    return database.transaction((other) => queue.isLive(other, QUEUE, id))
  })

  expect(live).toBe(true)
})

test('the jobs of one call keep their order of ids, and those of a later time wait', async () => {
  const { queue, database } = await open()

  const ids = await database.transaction((tx) =>
    queue.enqueue(tx, QUEUE, [{ ...job('a'), startAfterMs: 60_000 }, job('b')]),
  )
  const claim = await database.transaction(async (tx) => rollBackWith(await queue.claim(tx, QUEUE, [])))

  expect(claim).toMatchObject({ id: ids[1], group: 'b' })
})
