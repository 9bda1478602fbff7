// Deliveries that come together share one transaction, and none pays for another.
import pg from 'pg'
import { onTestFinished, expect, test } from 'vitest'
import { openStore, type Delivery } from '../../src/inbox/store.ts'
import { until } from '../harness/service.ts'
import { openSpecQueue } from '../harness/spec-database.ts'

const open = async () => {
  const opened = await openSpecQueue({ size: 4, lockTimeoutMs: 300, statementTimeoutMs: 4_000 })
  const session = async () => {
    const client = new pg.Client({ connectionString: opened.url })
    client.on('error', () => {})
    await client.connect()
    onTestFinished(() => client.end())
    return client
  }
  const rows = () =>
    opened.query('select event_id, deliveries from goodstanding.billing_events order by received_seq')
  const jobs = async () =>
    (
      await opened.query<{ id: string }>(
        "select data ->> 'eventId' as id from pgboss.job where name like 'billing.event.%' order by 1",
      )
    ).map(({ id }) => id)
  return { ...opened, store: openStore(opened.database, opened.queue), session, rows, jobs }
}

const aDelivery = (eventId: string, over: Partial<Delivery> = {}): Delivery => ({
  account: 'default',
  eventId,
  source: 'webhook',
  type: 'customer.updated',
  livemode: false,
  apiVersion: null,
  createdAt: null,
  customerId: 'cus_A',
  objectId: null,
  payload: '{}',
  ignoredReason: null,
  ...over,
})
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `evt_${index}`)

test('copies in one batch are one row that counts them, one job, and one of them is the new one', async () => {
  const { store, rows, jobs } = await open()

  const stored = await Promise.all(['evt_1', 'evt_2', 'evt_1', 'evt_1'].map((id) => store.put(aDelivery(id))))

  expect(stored).toEqual(['stored', 'stored', 'duplicate', 'duplicate'])
  expect(await rows()).toEqual([
    { event_id: 'evt_1', deliveries: 3 },
    { event_id: 'evt_2', deliveries: 1 },
  ])
  expect(await jobs()).toEqual(['evt_1', 'evt_2'])
})

test('of new, known, settled and ignored ones together only the new get a job', async () => {
  const { store, rows, jobs, query } = await open()
  await Promise.all(['evt_pending', 'evt_done'].map((id) => store.put(aDelivery(id))))
  await query(
    "update goodstanding.billing_events set processed_at = now(), outcome = 'applied' where event_id = 'evt_done'",
  )
  await query("delete from pgboss.job where data ->> 'eventId' = 'evt_done'")

  const stored = await Promise.all([
    store.put(aDelivery('evt_pending')),
    store.put(aDelivery('evt_new')),
    store.put(aDelivery('evt_done')),
    store.put(aDelivery('evt_ignored', { ignoredReason: 'event_type_ignored' })),
  ])

  expect(stored).toEqual(['duplicate', 'stored', 'duplicate', 'ignored'])
  expect(await rows()).toEqual(
    expect.arrayContaining([
      { event_id: 'evt_pending', deliveries: 2 },
      { event_id: 'evt_done', deliveries: 1 },
      { event_id: 'evt_new', deliveries: 1 },
      { event_id: 'evt_ignored', deliveries: 1 },
    ]),
  )
  expect(await jobs()).toEqual(['evt_new', 'evt_pending'])
})

test('the same id of two accounts is two events', async () => {
  const { store, queue, jobs } = await open()
  await queue.prepare(['second'])

  const stored = await Promise.all([
    store.put(aDelivery('evt_1')),
    store.put(aDelivery('evt_1', { account: 'second' })),
  ])

  expect(stored).toEqual(['stored', 'stored'])
  expect(await jobs()).toEqual(['evt_1', 'evt_1'])
})

test('a dead event that comes again stays dead, and gets no job', async () => {
  const { store, rows, jobs, query } = await open()
  await store.put(aDelivery('evt_1'))
  await query(`update goodstanding.billing_events
    set dead_letter_at = now(), outcome = 'permanent', reason = 'unrecognized_stripe_payload'`)
  await query('delete from pgboss.job')

  expect(await store.put(aDelivery('evt_1'))).toBe('duplicate')

  expect(await rows()).toEqual([{ event_id: 'evt_1', deliveries: 1 }])
  expect(await jobs()).toEqual([])
})

test('a lost job is sent again with the delay and the epoch of its row', async () => {
  const { store, query } = await open()
  await store.put(aDelivery('evt_1'))
  await query("update goodstanding.billing_events set epoch = 3, next_attempt_at = now() + interval '1 hour'")
  await query('delete from pgboss.job')

  expect(await store.put(aDelivery('evt_1'))).toBe('duplicate')

  expect(
    await query(
      "select data ->> 'epoch' as epoch, group_id, start_after > now() + interval '50 minutes' as later from pgboss.job",
    ),
  ).toEqual([{ epoch: '3', group_id: 'default:cus_A', later: true }])
})

test('a duplicate whose row somebody holds is answered at once, even where its job is gone', async () => {
  const { store, query, session, jobs } = await open()
  await store.put(aDelivery('evt_1'))
  await query('delete from pgboss.job')
  const holder = await session()
  await holder.query('begin')
  await holder.query('select 1 from goodstanding.billing_events for update')

  expect(await store.put(aDelivery('evt_1'))).toBe('duplicate')

  await holder.query('rollback')
  expect(await store.put(aDelivery('evt_1'))).toBe('duplicate')
  expect(await jobs()).toEqual(['evt_1'])
})

test('an event that waits in vain for another process fails alone', async () => {
  const { store, session, jobs } = await open()
  const other = await session()
  await other.query('begin')
  await other.query(
    "insert into goodstanding.billing_events (account, event_id, type, livemode) values ('default', 'evt_3', 'x', false)",
  )

  const stored = await Promise.allSettled(numbered(10).map((id) => store.put(aDelivery(id))))

  expect(stored.flatMap(({ status }, index) => (status === 'fulfilled' ? [] : [index]))).toEqual([3])
  expect(await jobs()).toEqual(numbered(10).filter((id) => id !== 'evt_3'))
})

test('where all must wait, none waits for the others in turn', async () => {
  const { store, session, rows } = await open()
  const holder = await session()
  await holder.query('begin')
  await holder.query('lock table goodstanding.billing_events in exclusive mode')
  const startedAt = performance.now()

  const stored = await Promise.allSettled(numbered(64).map((id) => store.put(aDelivery(id))))

  expect(new Set(stored.map(({ status }) => status))).toEqual(new Set(['rejected']))
  // One by one it would be 64 times the lock time-out: 19 s here, two minutes in production.
  expect(performance.now() - startedAt).toBeLessThan(10_000)
  await holder.query('rollback')
  expect(await store.put(aDelivery('evt_1'))).toBe('stored')
  expect(await rows()).toHaveLength(1)
})

test('past two thousand that wait the next is refused at once, and those before are stored', async () => {
  const { store, query } = await open()
  const ids = numbered(2_000)

  const accepted = Promise.all(ids.map((id) => store.put(aDelivery(id))))
  await expect(store.put(aDelivery('evt_late'))).rejects.toMatchObject({ code: 'inbox/overloaded' })

  expect(store.load()).toBe(2_000)
  expect(new Set(await accepted)).toEqual(new Set(['stored']))
  expect(await query('select count(*)::int as n from goodstanding.billing_events')).toEqual([{ n: 2_000 }])
  expect(await store.put(aDelivery('evt_late'))).toBe('stored')
  await until('nothing is under way', () => store.load() === 0)
})
