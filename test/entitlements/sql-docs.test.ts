// sql/README.md says what the database says, everything there has a sentence, and the queries for people run.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import {
  documentedObjects,
  INSPECT,
  inspectFiles,
  renderSqlReadme,
  SQL_README,
  withGenerated,
} from '../harness/sql-docs.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

test('sql/README.md is what the comments in the database say', async () => {
  const generated = await renderSqlReadme((text) => database.query(text))
  const readme = readFileSync(SQL_README, 'utf8')
  const fresh = withGenerated(readme, generated)

  const rewrite = process.env['UPDATE_DOCS'] === '1'
  if (rewrite) writeFileSync(SQL_README, fresh)

  expect(rewrite ? fresh : readme).toBe(fresh)
})

test('every table, view, function and sequence has a comment', async () => {
  const objects = await documentedObjects((text) => database.query(text))

  expect(objects.length).toBeGreaterThan(25)
  expect(objects.filter(({ comment }) => comment === null)).toEqual([])
})

// What psql does with the file, as far as ours use it.
const asPsql = (text: string, variables: Record<string, string>) =>
  text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('\\'))
    .join('\n')
    .replace(/:'(\w+)'/g, (_, name: string) => `'${variables[name] ?? ''}'`)

const inspect = async (file: string, variables: Record<string, string> = {}) =>
  database.query<Record<string, unknown>>(asPsql(readFileSync(join(INSPECT, file), 'utf8'), variables))

const insertEvents = async () => {
  await database.query("insert into goodstanding.accounts (account) values ('default')")
  await database.query(`
    insert into goodstanding.billing_events
      (account, event_id, type, livemode, customer_id, received_at, attempts, processed_at, dead_letter_at, outcome, reason)
    values
      ('default', 'evt_done', 'invoice.paid', false, 'cus_1', now() - interval '1 hour', 1, now() - interval '1 minute', null, 'applied', null),
      ('default', 'evt_waits', 'invoice.paid', false, 'cus_1', now() - interval '2 hours', 3, null, null, null, 'internal_error'),
      ('default', 'evt_new', 'invoice.paid', false, 'cus_2', now(), 0, null, null, null, null),
      ('default', 'evt_dead', 'invoice.paid', false, 'cus_1', now() - interval '3 hours', 12, null, now(), 'attempts_exhausted', 'customer_not_linked')`)
  await database.query(`
    insert into goodstanding.event_attempts (account, event_id, epoch, started_at, outcome, code, worker, version)
    values ('default', 'evt_done', 1, now(), 'done', null, 'w', '1'), ('default', 'evt_waits', 1, now(), 'retry', 'internal_error', 'w', '1')`)
  await database.query(`
    insert into goodstanding.billing_audit (account, event_id, epoch, customer_id, kind, reason)
    values ('default', 'evt_done', 1, 'cus_1', 'superseded', 'superseded_by_live_state'), ('default', 'evt_dead', 1, 'cus_1', 'quarantined', 'customer_not_linked')`)
}

test('the queries for people find what is stuck, waiting and dead', async () => {
  await insertEvents()

  const [inventory] = await inspect('inventory.sql')
  const stuck = await inspect('stuck-events.sql', { minutes: '5' })
  const timeline = await inspect('customer-timeline.sql', { account: 'default', customer: 'cus_1' })
  const [health] = await inspect('queue-health.sql')

  expect(inventory).toEqual({ pending: '2', dead_letter: '1', processed: '1', highest_attempt_count: 12 })
  expect(stuck.map(({ event_id, state, job }) => [event_id, state, job].join(' ')).toSorted()).toEqual([
    'evt_dead dead gone',
    'evt_waits pending gone',
  ])
  expect(timeline.map(({ what, subject }) => `${String(what)} ${String(subject)}`).toSorted()).toEqual([
    'attempt done evt_done',
    'attempt retry evt_waits',
    'audit quarantined evt_dead',
    'audit superseded evt_done',
    'received evt_dead',
    'received evt_done',
    'received evt_waits',
  ])
  expect(health).toMatchObject({
    account: 'default',
    state: 'runs',
    due: '2',
    dead: '1',
    processed_last_hour: '1',
  })
})

test('each query for people is run by a test', () => {
  expect(inspectFiles()).toEqual([
    'customer-timeline.sql',
    'inventory.sql',
    'queue-health.sql',
    'stuck-events.sql',
  ])
})

test('the ledger and the discards show each event as others expect', async () => {
  const ledger = await database.query(
    'select id, status, attempt_count::int from goodstanding.webhook_ledger order by id',
  )
  const discards = await database.query('select event, reason from goodstanding.discards')

  expect(ledger).toEqual([
    { id: 'evt_dead', status: 'failed_permanent', attempt_count: 0 },
    { id: 'evt_done', status: 'processed', attempt_count: 1 },
    { id: 'evt_new', status: 'processing', attempt_count: 0 },
    { id: 'evt_waits', status: 'processing', attempt_count: 1 },
  ])
  expect(discards).toEqual([{ event: 'evt_done', reason: 'superseded_by_live_state' }])
})
