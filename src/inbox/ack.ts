// Acknowledge after effect (WEBHOOK_ACK=applied): the delivery is stored as ever, and its answer waits, bounded, for what
// becomes of the event. Holds no database connection meanwhile. The stamp on the row decides HTTP answers only; it gives
// no worker anything and takes nothing from one.
import { eventQueue } from '../jobs.ts'
import type { Database } from '../postgres/pool.ts'
import type { Queue } from '../postgres/queue.ts'
import { findAckStates, findForJoin, stampWait, type AckState, type EventKey } from './ack-queries.ts'

export type Ack =
  /** Applied, ignored, discarded, superseded or dead: Stripe is done with it. */
  | 'settled'
  /** The attempt failed and will be made again: Stripe's own retry is a second net. */
  | 'failed'
  /** It waits by rule, or for Stripe, or is still under way. */
  | 'waiting'
  /** Another delivery of it waits just now. */
  | 'awaited'

export type Acks = {
  /** For how long the ingest stamps what it stores. */
  waitMs: number
  /** After the event was stored by this delivery. */
  wait: (key: EventKey) => Promise<Ack>
  /** After another delivery had stored it. */
  join: (key: EventKey) => Promise<Ack>
}

type Parts = { database: Database; queue: Queue; draining: () => boolean }
type Waiting = {
  key: EventKey
  endsAt: number
  resolve: (ack: Ack) => void
}

const LOOK_MS = 50
// Stripe has some dozens under way; whoever opens more gets an answer at once.
const WAITING_MAX = 5_000

/** Starts looking as soon as somebody waits, one query for all of them. */
export const openAcks = (parts: Parts, waitMs: number): Acks => {
  let waiting: Waiting[] = []
  let looking = false
  const look = async () => {
    try {
      const states = await stateMap(parts.database, waiting)
      const now = performance.now()
      waiting = waiting.filter((one) => {
        const ack = ackOf(states.get(nameOf(one.key)), parts.draining() || now >= one.endsAt)
        if (ack === null) return true
        one.resolve(ack)
        return false
      })
    } catch {
      // The event is stored; what becomes of it cannot be seen just now.
      for (const one of waiting.splice(0)) one.resolve('waiting')
    }
    looking = waiting.length > 0
    if (looking) setTimeout(() => void look(), LOOK_MS)
  }
  const wait = (key: EventKey) =>
    new Promise<Ack>((resolve) => {
      if (waiting.length >= WAITING_MAX) return resolve('waiting')
      waiting.push({ key, endsAt: performance.now() + waitMs, resolve })
      if (looking) return
      looking = true
      setTimeout(() => void look(), LOOK_MS)
    })
  return {
    waitMs,
    wait,
    join: async (key) => (await joinWait(parts, key, waitMs)) ?? wait(key),
  }
}

const nameOf = ({ account, eventId }: EventKey) => `${account} ${eventId}`

const stateMap = async (database: Database, waiting: readonly Waiting[]) => {
  const rows = await database.run((db) =>
    findAckStates(
      db,
      waiting.map(({ key }) => key),
    ),
  )
  return new Map(rows.map((row) => [nameOf({ account: row.account, eventId: row.event_id }), row]))
}

// Null: still under way.
const ackOf = (state: AckState | undefined, over: boolean): Ack | null => {
  if (state?.settled === true) return 'settled'
  if (state !== undefined && !state.stamped) return state.last === 'retry' ? 'failed' : 'waiting'
  return over ? 'waiting' : null
}

// The answer, where there is one at once. A failed event is due now: its next failure begins a longer back-off, so that
// this happens at most once in each; a deferred one is not, because nothing that it waits for has changed.
const joinWait = ({ database, queue }: Parts, key: EventKey, waitMs: number): Promise<Ack | null> =>
  database.transaction<Ack | null>(async (tx) => {
    const found = await findForJoin(tx, key)
    if (found === null || found.settled) return 'settled'
    const dueNow = found.last === 'retry' && found.wait_ms > 0
    if (!dueNow && found.wait_ms > waitMs) return 'waiting'
    if (!(await stampWait(tx, { ...key, waitMs, dueNow }))) return 'awaited'
    if (dueNow && found.job_id !== null) await queue.reschedule(tx, eventQueue(key.account), found.job_id, 0)
    return null
  })
