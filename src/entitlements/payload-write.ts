// Decides from what a customer's events said and writes it, in payload mode: all that is known, one thing of it new.
import type { WorkerContext } from '../context.ts'
import type { CustomerRow } from '../customers/queries.ts'
import type { Transaction } from '../postgres/pool.ts'
import type { Reason } from '../reasons.ts'
import type { Instant } from '../time.ts'
import { isOver, type Terms } from './access.ts'
import { decide } from './decide.ts'
import { settleReport, type Payment } from './guard.ts'
import type { Snapshot, Subscription } from './model.ts'
import { loadReports, saveReport, type Reported } from './payload-queries.ts'
import { loadMappings } from './queries.ts'
import { loadSubscriptions } from './subscription-queries.ts'
import { writeDecided } from './write.ts'

export type FromPayload =
  | {
      kind: 'settled'
      processed: 'applied' | 'no_change' | 'discarded'
      reason: Reason | null
      subscriptionId: string | null
      /** A subscription was recorded that was not: its invoices need not wait any more. */
      appeared: boolean
      /** A subscription has ended: what competed with it is plain now. */
      freed: boolean
    }
  /** Nothing was written. */
  | { kind: 'stopped'; how: 'permanent' | 'deferred'; reason: Reason; error: string }

export type PayloadInput = {
  account: string
  customer: CustomerRow & { tenant_id: string }
  /** Recorded as the cause in the history: an event's id or a job's name. */
  cause: string
  /** A person says that this event is right: order and ambiguity do not stop it. */
  accept?: boolean
}

/** As stored, and what the newest event said of each. */
export type Known = { subscriptions: Subscription[]; reports: Map<string, Reported> }

/** What is new: nothing, where it is only decided again. */
export type Step = {
  /** When Stripe made the event. */
  at: Instant | null
  deleted?: true
  reported?: Reported
  payment?: { payment: Payment; at: Instant }
}

type Parts = Pick<WorkerContext, 'catalog'>

/** Writes what follows, or nothing where a person or a catalog must say more first. */
export const writeFromPayload = async (
  parts: Parts,
  tx: Transaction,
  input: PayloadInput,
  known: Known,
  step: Step,
): Promise<FromPayload> => {
  const { account, customer, cause } = input
  const key = { account, customerId: customer.customer_id }
  const { catalog, hash: catalogHash } = parts.catalog()
  const snapshot = snapshotWith(input, known, step)
  const now = asOf(customer, step.at) ?? 0
  const id = step.reported?.report.subscription.id ?? null
  const priceIds = snapshot.subscriptions.flatMap(({ items }) => items.map(({ priceId }) => priceId))
  const remembered = await loadMappings(tx, account, priceIds)
  const decision = decide({
    snapshot,
    catalog,
    remembered,
    now,
    mode: 'payload',
    about: id,
    accept: input.accept ?? false,
  })
  if (decision.kind === 'blocked') {
    const how = decision.reason === 'unmapped_stripe_price' ? 'deferred' : 'permanent'
    return { kind: 'stopped', how, reason: decision.reason, error: decision.subjects.join(', ') }
  }
  const changed = await writeDecided(tx, key, {
    tenantId: customer.tenant_id,
    cause,
    basis: {
      kind: 'events',
      evidenceAt: step.at === null ? customer.evidence_at : now,
      payment: step.payment ?? paymentOf(customer),
      first: customer.evidence_at === null,
    },
    previous: known.subscriptions,
    snapshot,
    invoices: [],
    decision,
    catalogHash,
    previousCatalogHash: customer.catalog_hash,
    staleGraceHours: catalog.staleGraceHours,
  })
  if (step.reported !== undefined) await saveReport(tx, account, step.reported)
  const lived = living(known.subscriptions, termsAt(parts, customer, asOf(customer, null) ?? 0))
  const lives = living(snapshot.subscriptions, {
    ...termsAt(parts, customer, now),
    deleted: snapshot.deleted,
  })
  return {
    ...settled(changed ? 'applied' : 'no_change', null, id),
    appeared: id !== null && !known.reports.has(id),
    freed: lived.some((each) => !lives.includes(each)),
  }
}

const snapshotWith = ({ customer }: PayloadInput, known: Known, step: Step): Snapshot => {
  const { reported } = step
  const id = reported?.report.subscription.id ?? null
  const previous = known.subscriptions.find((each) => each.id === id) ?? null
  const others = known.subscriptions.filter((each) => each.id !== id)
  const mine = reported === undefined ? [] : [settleReport(reported.report, reported.outcome, previous)]
  return {
    customerId: customer.customer_id,
    deleted: step.deleted ?? customer.deleted,
    tenantId: null,
    clockAt: null,
    subscriptions: [...others, ...mine].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  }
}

const living = (subscriptions: readonly Subscription[], terms: Terms): string[] =>
  subscriptions.filter((each) => !isOver(each, terms)).map(({ id }) => id)

/** All that is known of a customer. What was read while there was a key counts as reported when it was read. */
export const loadKnown = async (tx: Transaction, { account, customer }: PayloadInput): Promise<Known> => {
  const key = { account, customerId: customer.customer_id }
  const subscriptions = await loadSubscriptions(tx, key)
  const readAt = customer.read_at
  const told = (await loadReports(tx, key)).filter(({ report }) => readAt === null || report.at >= readAt)
  const reports = new Map(told.map((each) => [each.report.subscription.id, each]))
  for (const subscription of subscriptions) {
    if (reports.has(subscription.id)) continue
    const report = { told: 'changed' as const, at: readAt ?? 0, subscription }
    reports.set(subscription.id, { report, outcome: null })
  }
  return { subscriptions, reports }
}

/** The time of the newest evidence, a new event's included; null where there is none. */
export const asOf = (customer: CustomerRow, at: Instant | null): Instant | null => {
  const times = [customer.evidence_at, customer.read_at, at].filter((each) => each !== null)
  return times.length === 0 ? null : Math.max(...times)
}

export const paymentOf = ({ payment, payment_at: at }: CustomerRow) =>
  payment === null || at === null ? null : { payment, at }

export const termsAt = (parts: Parts, { deleted }: CustomerRow, at: Instant): Terms => ({
  catalog: parts.catalog().catalog,
  at,
  mode: 'payload',
  deleted,
})

export const settled = (
  processed: Extract<FromPayload, { kind: 'settled' }>['processed'],
  reason: Reason | null,
  subscriptionId: string | null,
): Extract<FromPayload, { kind: 'settled' }> => ({
  kind: 'settled',
  processed,
  reason,
  subscriptionId,
  appeared: false,
  freed: false,
})
