// Missed events: Stripe's own list of events, read in an overlapping window, against the inbox. What is not there enters
// by the same way as a webhook, marked `catchup`. Source: https://docs.stripe.com/webhooks/process-undelivered-events
import { claimSweeps, endSweep, failSweep } from '../audit/sweeps-queries.ts'
import type { WorkerContext } from '../context.ts'
import type { Database } from '../postgres/pool.ts'
import type { StripeAccount } from '../stripe/accounts.ts'
import { readStripeFailure } from '../stripe/failure.ts'
import { openReader } from '../stripe/read.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS, type Instant } from '../time.ts'
import { deliveryFrom } from './delivery.ts'
import { readEnvelope, topicOf } from './envelope.ts'
import { findUnseen } from './queries.ts'
import { openStore } from './store.ts'

const NAME = 'catchup'
const EVERY_MS = 5 * MINUTE_MS
/** For `ensureSweeps`. */
export const CATCHUP = { name: NAME, everyMs: EVERY_MS } as const
// Longer than a run's share can take: 20 pages of at most 8 s.
const LEASE_MS = 10 * MINUTE_MS
const PAGES = 20
// Events of the same second may be listed late, and runs may end in the middle.
const OVERLAP_MS = 10 * MINUTE_MS
// Younger ones are still on their way by webhook.
export const GRACE_MS = 2 * MINUTE_MS
// Stripe keeps events for 30 days.
export const KEPT_MS = 30 * DAY_MS

type Cursor = {
  from: Instant
  through: Instant
  after: string | null
  pages: number
  seen: number
  stored: number
}
type Parts = Pick<WorkerContext, 'accounts' | 'budget' | 'log' | 'now' | 'queue' | 'stop' | 'work'> & {
  /** The process is about to end: stop after this page, the next one goes on. */
  ending: () => boolean
}

/** Runs what is due of these accounts. Returns how many missed events were stored. */
export const catchUp = async (ctx: Parts, accounts: readonly string[]): Promise<number> => {
  const due = await ctx.work.run((db) => claimSweeps(db, { accounts, name: NAME, leaseMs: LEASE_MS }))
  let stored = 0
  for (const row of due) {
    const account = ctx.accounts.named(row.account)
    if (account === null || account.client === null) continue
    const begun = (row.cursor as Cursor | null) ?? windowOf(row)
    stored += await runShare(ctx, account, begun)
  }
  return stored
}

const windowOf = (row: { through_at: Instant | null; since: Instant; now: Instant }): Cursor => ({
  from: Math.max(row.through_at ?? row.since, row.now - KEPT_MS) - OVERLAP_MS,
  through: row.now - GRACE_MS,
  after: null,
  pages: 0,
  seen: 0,
  stored: 0,
})

const runShare = async (ctx: Parts, account: StripeAccount, begun: Cursor): Promise<number> => {
  const key = { account: account.name, name: NAME } as const
  try {
    const { cursor, more } = await readPages(ctx, account, begun)
    const { pages, seen, stored } = cursor
    const result = { from: begun.from, through: begun.through, pages, seen, stored }
    await ctx.work.run((db) =>
      endSweep(db, {
        ...key,
        throughAt: more ? null : begun.through,
        cursor: more ? cursor : null,
        result,
        nextMs: more ? SECOND_MS : EVERY_MS,
      }),
    )
    const found = stored - begun.stored
    if (found > 0)
      ctx.log.error({ account: account.name, stored: found, alert: 'events_missed' }, 'inbox.catchup')
    return found
  } catch (error) {
    if (ctx.stop.aborted) return 0
    const word = readStripeFailure(error)?.kind ?? 'unknown'
    await ctx.work.run((db) => failSweep(db, { ...key, error: word, nextMs: MINUTE_MS }))
    ctx.log.warn({ account: account.name, cause: word }, 'inbox.catchup_failed')
    return 0
  }
}

const readPages = async (
  ctx: Parts,
  account: StripeAccount,
  begun: Cursor,
): Promise<{ cursor: Cursor; more: boolean }> => {
  const cursor = { ...begun }
  for (let page = 0; page < PAGES; page += 1) {
    const reader = openReader(account, ctx.budget, { stop: ctx.stop, now: ctx.now })
    const { events, more } = await reader.eventsSince(cursor.from, cursor.after)
    const { missing } = await findMissing(ctx.work, account.name, { events, through: cursor.through })
    cursor.stored += await storeMissing({ database: ctx.work, queue: ctx.queue }, account, missing)
    cursor.after = events.at(-1)?.id ?? cursor.after
    cursor.pages += 1
    cursor.seen += events.length
    if (!more) return { cursor, more: false }
    if (ctx.ending()) break
  }
  return { cursor, more: true }
}

export type ListedEvent = { id: string; type: string; created: number; livemode: boolean }

/** Those that we work and that had time to come by webhook, and of these the ones that are not in the inbox. */
export const findMissing = async (
  database: Database,
  account: string,
  listed: { events: readonly ListedEvent[]; through: Instant },
): Promise<{ ripe: ListedEvent[]; missing: ListedEvent[] }> => {
  const ripe = listed.events.filter(
    ({ type, created }) => topicOf(type) !== null && created * SECOND_MS <= listed.through,
  )
  const eventIds = ripe.map(({ id }) => id)
  const unseen = new Set(await database.run((db) => findUnseen(db, { account, eventIds })))
  return { ripe, missing: ripe.filter(({ id }) => unseen.has(id)) }
}

/** Missed events enter as webhooks do. Returns how many were new. */
export const storeMissing = async (
  { database, queue }: { database: Database; queue: WorkerContext['queue'] },
  account: StripeAccount,
  missing: readonly ListedEvent[],
): Promise<number> => {
  const store = openStore(database, queue)
  const stored = await Promise.all(
    missing.map((event) => {
      const livemode = account.livemode ?? event.livemode
      const body = { text: JSON.stringify(event), envelope: readEnvelope(event) }
      return store.put(deliveryFrom(account, body, { livemode, source: 'catchup' }))
    }),
  )
  return stored.filter((how) => how !== 'duplicate').length
}
