// read -> decide, without a write: what Stripe says of one customer and what would follow. `reconcile` writes it under
// the customer's lock; `preview` shows it to a person and to the drift sweep.
import type { WorkerContext } from '../context.ts'
import { readClock, type CustomerKey } from '../customers/queries.ts'
import type { Database, Queries } from '../postgres/pool.ts'
import type { Reason } from '../reasons.ts'
import type { StripeReader } from '../stripe/read.ts'
import type { Instant } from '../time.ts'
import { decide } from './decide.ts'
import { diff } from './diff.ts'
import { aboutOf, askInvoice, isEnded, type Evidence, type InvoiceQuestion } from './evidence.ts'
import { readLiveState, type LiveState } from './live.ts'
import type { Decision, Snapshot, Subscription } from './model.ts'
import { outlookOf, type Outlook } from './outlook.ts'
import { loadMappings } from './queries.ts'
import { loadEntitlements } from './rows-queries.ts'
import { remember } from './snapshot.ts'
import { loadSubscriptions } from './subscription-queries.ts'

export type Assessed = {
  kind: 'assessed'
  live: Extract<LiveState, { kind: 'live' }>
  /** What was read, with what we remember. */
  snapshot: Snapshot
  question: Extract<InvoiceQuestion, { kind: 'note' }> | null
  decision: Extract<Decision, { kind: 'decided' }>
}

export type Assessment =
  | Assessed
  /** Stripe answered, and nothing may follow from it. */
  | { kind: 'blocked'; reason: Reason; error: string }
  | { kind: 'vanished'; subscriptionIds: string[] }

type Parts = Pick<WorkerContext, 'catalog'>

/** Runs a query: on the transaction's connection, or on any. */
export type Run = <T>(work: (db: Queries) => Promise<T>) => Promise<T>

export type Assess = {
  key: CustomerKey
  previous: readonly Subscription[]
  evidence: Evidence | null
  now: Instant
  reader: StripeReader
}

/** Reads one customer from Stripe and decides. Throws what the Stripe client throws. */
export const assess = async (
  parts: Parts,
  run: Run,
  { key, previous, evidence, now, reader }: Assess,
): Promise<Assessment> => {
  const live = await readLive(reader, { key, previous, evidence })
  if (live.kind === 'unknown_customer') return blocked('unknown_at_stripe', key.customerId)
  if (live.kind === 'unreadable') return blocked('unrecognized_stripe_payload', live.why)
  if (live.vanished.length > 0) return { kind: 'vanished', subscriptionIds: live.vanished }
  const snapshot = withMemory(live, previous, now)
  const question = askInvoice(evidence, live.invoice, snapshot.subscriptions)
  if (question?.kind === 'stop') return blocked(question.reason, question.error)
  const { catalog } = parts.catalog()
  const priceIds = snapshot.subscriptions.flatMap(({ items }) => items.map(({ priceId }) => priceId))
  const remembered = await run((db) => loadMappings(db, key.account, priceIds))
  const decision = decide({ snapshot, catalog, remembered, now, mode: 'live', about: aboutOf(evidence) })
  if (decision.kind === 'blocked') return blocked(decision.reason, decision.subjects.join(', '))
  return { kind: 'assessed', live, snapshot, question, decision }
}

const blocked = (reason: Reason, error: string): Assessment => ({ kind: 'blocked', reason, error })

const readLive = (
  reader: StripeReader,
  { key, previous, evidence }: Pick<Assess, 'key' | 'previous' | 'evidence'>,
) =>
  readLiveState(reader, {
    customerId: key.customerId,
    knownLive: previous.filter(({ status }) => !isEnded(status)),
    subscriptionId: evidence?.subscriptionId ?? null,
    invoiceId: evidence?.invoiceId ?? null,
  })

const withMemory = (
  live: Extract<LiveState, { kind: 'live' }>,
  previous: readonly Subscription[],
  now: Instant,
): Snapshot => ({
  ...live.snapshot,
  subscriptions: live.snapshot.subscriptions.map((current) =>
    remember({
      previous: previous.find(({ id }) => id === current.id) ?? null,
      current,
      openInvoices: live.openInvoices,
      now: live.snapshot.clockAt ?? now,
    }),
  ),
})

export type Preview =
  | {
      kind: 'predicted'
      /** Of the customer, as Stripe says now. */
      live: readonly Subscription[]
      deleted: boolean
      outlook: Outlook
      /** Would any stored row change, be it only an end? */
      changes: boolean
    }
  | Exclude<Assessment, Assessed>

/** What a read would change now. Holds no connection while Stripe answers, takes no lock and writes nothing. */
export const preview = async (
  parts: Parts,
  database: Database,
  { key, reader }: { key: CustomerKey; reader: StripeReader },
): Promise<Preview> => {
  const { previous, now } = await database.run(async (db) => ({
    previous: await loadSubscriptions(db, key),
    now: await readClock(db),
  }))
  const assessment = await assess(parts, database.run, { key, previous, evidence: null, now, reader })
  if (assessment.kind !== 'assessed') return assessment
  const current = await database.run((db) => loadEntitlements(db, key))
  const { entitlements: desired, held } = assessment.decision
  return {
    kind: 'predicted',
    live: assessment.snapshot.subscriptions,
    deleted: assessment.snapshot.deleted,
    outlook: outlookOf(current, desired, held),
    changes: diff({ current, desired, held }).changes.length > 0,
  }
}
