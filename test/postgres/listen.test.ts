// LISTEN is a hint that pg-boss gives on a channel whose name is its own business: these specs say when it changes.
import { expect, inject, onTestFinished, test } from 'vitest'
import { eventQueue } from '../../src/jobs.ts'
import { listenForJobs } from '../../src/postgres/listen.ts'
import { rollBackWith } from '../../src/postgres/pool.ts'
import { adminQuery } from '../harness/database.ts'
import { until } from '../harness/service.ts'
import { openSpecQueue } from '../harness/spec-database.ts'

const QUEUE = eventQueue('default')
const job = (group: string) => ({ data: { group }, group })

test('a runnable job is announced when it commits, and again when it is made due; a lost listener comes back', async () => {
  const { url, queue, database, query } = await openSpecQueue()
  const heard: (string | null)[] = []
  const listener = listenForJobs(url, (name) => heard.push(name))
  onTestFinished(() => listener.stop())
  await until('it listens', () => listener.healthy())

  const [id = ''] = await database.transaction((tx) =>
    queue.enqueue(tx, QUEUE, [{ ...job('a'), startAfterMs: 60_000 }]),
  )
  await database.transaction((tx) => queue.enqueue(tx, QUEUE, [job('b')]))
  await until('the runnable one is announced', () => heard.filter((name) => name === QUEUE).length === 1)
  await database.transaction((tx) => queue.reschedule(tx, QUEUE, id, 0))
  await until('the other one, too', () => heard.filter((name) => name === QUEUE).length === 2)

  await query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'goodstanding-listen' and datname = current_database()",
  )
  await until(
    'it listens again, and says that some may be missed',
    () => listener.healthy() && heard.at(-1) === null,
    10_000,
  )
  expect(heard).toContain(QUEUE)
})

test('a job whose transaction rolls back is not announced', async () => {
  const { url, queue, database } = await openSpecQueue()
  const heard: (string | null)[] = []
  const listener = listenForJobs(url, (name) => heard.push(name))
  onTestFinished(() => listener.stop())
  await until('it listens', () => listener.healthy())

  await database.transaction(async (tx) => rollBackWith(await queue.enqueue(tx, QUEUE, [job('a')])))
  await database.transaction((tx) => queue.enqueue(tx, QUEUE, [job('b')]))
  await until('the one that commits is announced', () => heard.length >= 2)

  expect(heard).toEqual([null, QUEUE])
})

test('a database that is away at first is listened to once it is there', async () => {
  const { url } = await openSpecQueue()
  const name = new URL(url).pathname.slice(1)
  await adminQuery(inject('adminUrl'), `alter database ${name} with allow_connections false`)
  const heard: (string | null)[] = []
  const listener = listenForJobs(url, (queue) => heard.push(queue))
  onTestFinished(() => listener.stop())
  await adminQuery(inject('adminUrl'), `alter database ${name} with allow_connections true`)

  await until('it listens', () => listener.healthy())

  expect(heard).toEqual([null])
})

test('one that is stopped hears nothing more and leaves no connection', async () => {
  const { url, query } = await openSpecQueue()
  const listener = listenForJobs(url, () => {})
  await until('it listens', () => listener.healthy())

  await listener.stop()

  expect(listener.healthy()).toBe(false)
  const open =
    "select 1 from pg_stat_activity where application_name = 'goodstanding-listen' and datname = current_database()"
  await until('its connection is closed', async () => (await query(open)).length === 0)
})
