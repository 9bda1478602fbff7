// Stores verified deliveries: insert + enqueue in ONE transaction, several deliveries sharing one where they come
// together. Nobody is answered before COMMIT; one bad delivery never fails its neighbours. Calls no Stripe.
import { randomUUID } from 'node:crypto'
import { AppError } from '../errors.ts'
import { eventQueue, groupOf, type EventJob } from '../jobs.ts'
import type { Database, Transaction } from '../postgres/pool.ts'
import type { Queue } from '../postgres/queue.ts'
import { countDeliveries, findPendingOf, insertEvents, swapJob, type NewEvent } from './queries.ts'

/** A verified delivery, as it goes into the inbox. */
export type Delivery = Omit<NewEvent, 'deliveries' | 'jobId'>

export type Stored = 'stored' | 'ignored' | 'duplicate'

export type Store = {
  /** Resolves after COMMIT; rejects where nothing is durable. */
  put: (delivery: Delivery) => Promise<Stored>
  /** Deliveries that wait or are being written. */
  load: () => number
}

// More events a transaction than this gain nothing (measured: spike.md section 4).
const BATCH_MAX = 64
// Two transactions in flight keep the database busy while the next batch gathers.
const FLUSHES_MAX = 2
// Past this, what fails one by one is no fault of one event (a table is locked, the database hangs), and Stripe must not
// wait for each in turn. Longer than twice the lock time-out, so that one event that waits in vain fails alone.
const ONE_BY_ONE_MAX_MS = 5_000
// Past this the answer would come too late for Stripe anyway: say so at once, it will come again.
const WAITING_MAX = 2_000

type Waiting = {
  delivery: Delivery
  key: string
  resolve: (stored: Stored) => void
  reject: (error: unknown) => void
}

const keyOf = ({ account, eventId }: { account: string; eventId: string }) => `${account} ${eventId}`

/**
 * Batches without a timer: what arrives while transactions are in flight shares the next one. `ackWaitMs`: stamped on what is
 * new, where its effect is waited for.
 */
export const openStore = (database: Database, queue: Queue, ackWaitMs: number | null = null): Store => {
  let waiting: Waiting[] = []
  let flushes = 0
  // Events being inserted now: a copy would wait for them inside the database and hold up its neighbours.
  const inFlight = new Set<string>()
  let load = 0

  const next = () => {
    if (flushes >= FLUSHES_MAX) return
    const batch: Waiting[] = []
    const rest: Waiting[] = []
    for (const one of waiting) (batch.length < BATCH_MAX && !inFlight.has(one.key) ? batch : rest).push(one)
    if (batch.length === 0) return
    waiting = rest
    flushes += 1
    const keys = new Set(batch.map((one) => one.key))
    for (const key of keys) inFlight.add(key)
    void flush({ database, queue, ackWaitMs }, batch).finally(() => {
      for (const key of keys) inFlight.delete(key)
      flushes -= 1
      load -= batch.length
      next()
    })
  }
  return {
    put: (delivery) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= WAITING_MAX)
          return reject(new AppError('inbox/overloaded', { waiting: waiting.length }))
        load += 1
        waiting.push({ delivery, key: keyOf(delivery), resolve, reject })
        setImmediate(next)
      }),
    load: () => load,
  }
}

type Parts = { database: Database; queue: Queue; ackWaitMs: number | null }

const flush = async (parts: Parts, batch: readonly Waiting[]): Promise<void> => {
  const endsAt = performance.now() + ONE_BY_ONE_MAX_MS
  try {
    const stored = await storeDeliveries(
      parts,
      batch.map((one) => one.delivery),
    )
    batch.forEach((one, index) => one.resolve(stored[index] ?? 'duplicate'))
  } catch (error) {
    if (batch.length === 1) return batch[0]?.reject(error)
    for (const one of batch) {
      if (performance.now() < endsAt) await flush(parts, [one])
      else one.reject(error)
    }
  }
}

/** Stores deliveries in one transaction; the answers are in their order. Copies inside the batch insert once. */
const storeDeliveries = (
  { database, queue, ackWaitMs }: Parts,
  deliveries: readonly Delivery[],
): Promise<Stored[]> =>
  database.transaction(async (tx) => {
    const copies = new Map<string, Delivery[]>()
    for (const delivery of deliveries)
      copies.set(keyOf(delivery), [...(copies.get(keyOf(delivery)) ?? []), delivery])
    const events = [...copies.values()].flatMap(([first, ...others]) =>
      first === undefined
        ? []
        : [
            {
              ...first,
              deliveries: 1 + others.length,
              jobId: first.ignoredReason === null ? randomUUID() : null,
            },
          ],
    )
    const inserted = new Set(
      (await insertEvents(tx, events, ackWaitMs)).map((row) =>
        keyOf({ account: row.account, eventId: row.event_id }),
      ),
    )
    await enqueueNew(
      tx,
      queue,
      events.filter((event) => event.jobId !== null && inserted.has(keyOf(event))),
    )
    const known = events.filter((event) => !inserted.has(keyOf(event)))
    if (known.length > 0) await noteDuplicates(tx, queue, known)
    const answered = new Set<string>()
    return deliveries.map((delivery) => {
      const key = keyOf(delivery)
      const first = inserted.has(key) && !answered.has(key)
      answered.add(key)
      return first ? (delivery.ignoredReason === null ? 'stored' : 'ignored') : 'duplicate'
    })
  })

const enqueueNew = async (tx: Transaction, queue: Queue, events: readonly NewEvent[]) => {
  const byAccount = new Map<string, NewEvent[]>()
  for (const event of events) byAccount.set(event.account, [...(byAccount.get(event.account) ?? []), event])
  for (const [account, mine] of byAccount) {
    await queue.enqueue(
      tx,
      eventQueue(account),
      mine.map((event) => ({
        ...eventJobOf({ ...event, epoch: 1 }),
        ...(event.jobId !== null && { id: event.jobId }),
      })),
    )
  }
}

/** The job of an event: ids only. */
export const eventJobOf = (event: {
  account: string
  eventId: string
  epoch: number
  customerId: string | null
}) => ({
  data: { account: event.account, eventId: event.eventId, epoch: event.epoch } satisfies EventJob,
  group: groupOf(event.account, event.customerId, event.eventId),
})

// Settled: nothing is written. Pending: counted, and its job is sent again where it is gone.
const noteDuplicates = async (tx: Transaction, queue: Queue, events: readonly NewEvent[]) => {
  const pending = await findPendingOf(tx, events)
  if (pending.length === 0) return
  await countDeliveries(
    tx,
    pending.map((row) => ({ account: row.account, eventId: row.event_id })),
  )
  for (const row of pending) {
    await resendIfGone(tx, queue, row)
  }
}

type PendingJob = {
  account: string
  event_id: string
  epoch: number
  job_id: string | null
  customer_id: string | null
  wait_ms: number
}

/** Sends the job of a pending event again if it is gone. True where it did. */
export const resendIfGone = async (tx: Transaction, queue: Queue, row: PendingJob): Promise<boolean> => {
  const name = eventQueue(row.account)
  if (row.job_id !== null && (await queue.isLive(tx, name, row.job_id))) return false
  const id = randomUUID()
  const swapped = await swapJob(tx, { account: row.account, eventId: row.event_id, from: row.job_id, to: id })
  if (!swapped) return false
  const job = eventJobOf({
    account: row.account,
    eventId: row.event_id,
    epoch: row.epoch,
    customerId: row.customer_id,
  })
  await queue.enqueue(tx, name, [{ ...job, id, startAfterMs: row.wait_ms }])
  return true
}
