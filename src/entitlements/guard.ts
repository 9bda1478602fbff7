// RULE: payload mode, where nothing can be read again and the events themselves are the evidence: which of them count,
// in which order, and what of a subscription follows from its newest report and its newest payment. Stripe's clock
// has seconds and deliveries have no order, so what cannot be ordered is told, never guessed: a person decides.
import { earliest, type Instant } from '../time.ts'
import { equal } from './diff.ts'
import { fieldsOf, instantOf, type Fields } from './fields.ts'
import type { Subscription } from './model.ts'
import { idOf } from '../ids.ts'
import { remember } from './snapshot.ts'

/** How a subscription was reported: `created` comes before everything else, `deleted` after. */
export type Told = 'created' | 'changed' | 'deleted'
export type Payment = 'paid' | 'failed'

/** What the newest event said of a subscription, without memory, and when Stripe made that event. */
export type Report = { told: Told; at: Instant; subscription: Subscription }

/** How the newest payment of a subscription ended. `paidThrough`: item id ('' where none is named) -> period's end. */
export type InvoiceOutcome = {
  payment: Payment
  at: Instant
  invoiceId: string
  paidThrough: Record<string, Instant>
}

export type Verdict =
  | { kind: 'apply' }
  /** It says what is known: nothing to do. */
  | { kind: 'repeat' }
  | { kind: 'discard'; reason: 'stale_subscription_event' | 'stale_invoice_event' }
  | { kind: 'quarantine'; reason: 'ambiguous_subscription_order' | 'ambiguous_invoice_order' }

/** What an event type does without a read. All others are recorded only. */
export type Role =
  | { kind: 'report'; told: Told }
  | { kind: 'outcome'; payment: Payment }
  | { kind: 'deletion' }
  | { kind: 'record' }

const ROLES = new Map<string, Role>([
  ['customer.subscription.created', { kind: 'report', told: 'created' }],
  ['customer.subscription.updated', { kind: 'report', told: 'changed' }],
  ['customer.subscription.paused', { kind: 'report', told: 'changed' }],
  ['customer.subscription.resumed', { kind: 'report', told: 'changed' }],
  ['customer.subscription.deleted', { kind: 'report', told: 'deleted' }],
  ['invoice.paid', { kind: 'outcome', payment: 'paid' }],
  ['invoice.payment_failed', { kind: 'outcome', payment: 'failed' }],
  ['customer.deleted', { kind: 'deletion' }],
])

export const roleOf = (type: string): Role => ROLES.get(type) ?? { kind: 'record' }

/** Must an event of a customer without a tenant wait? What it says cannot be read again after the link. */
export const waitsForLink = (type: string): boolean =>
  type === 'checkout.session.completed' || ['report', 'outcome'].includes(roleOf(type).kind)

const RANK = { created: 0, changed: 1, deleted: 2 } as const satisfies Record<Told, number>

/** A report beside the newest one that was applied to the same subscription. */
export const judgeReport = (report: Report, newest: Report | null): Verdict => {
  if (newest === null) return { kind: 'apply' }
  const ahead = RANK[report.told] - RANK[newest.told] || report.at - newest.at
  if (ahead > 0) return { kind: 'apply' }
  if (ahead < 0) return { kind: 'discard', reason: 'stale_subscription_event' }
  return equal(report.subscription, newest.subscription)
    ? { kind: 'repeat' }
    : { kind: 'quarantine', reason: 'ambiguous_subscription_order' }
}

/** A payment beside the newest one of the same customer: a guard of its own, whatever subscriptions report. */
export const judgeOutcome = (
  outcome: Pick<InvoiceOutcome, 'payment' | 'at'>,
  newest: Pick<InvoiceOutcome, 'payment' | 'at'> | null,
): Verdict => {
  if (newest === null || outcome.at > newest.at) return { kind: 'apply' }
  if (outcome.at < newest.at) return { kind: 'discard', reason: 'stale_invoice_event' }
  // Two invoices may be paid within a second; which came first makes no difference.
  return outcome.payment === newest.payment
    ? { kind: 'apply' }
    : { kind: 'quarantine', reason: 'ambiguous_invoice_order' }
}

export type InvoiceSource =
  | { kind: 'own'; subscriptionId: string }
  | { kind: 'none'; reason: 'invoice_without_subscription' }
  | { kind: 'wait'; reason: 'subscription_not_linked' }
  | { kind: 'quarantine'; reason: 'ambiguous_invoice_subscription' }

/**
 * Whose subscription an invoice pays for. `recorded`: this customer's, with whether each still lives;
 * `ofAnother`: it is recorded for another customer.
 */
export const sourceOf = (
  subscriptionId: string | null,
  recorded: readonly { id: string; lives: boolean }[],
  ofAnother: boolean,
): InvoiceSource => {
  if (subscriptionId === null) return { kind: 'none', reason: 'invoice_without_subscription' }
  const named = recorded.find(({ id }) => id === subscriptionId)
  const anyLives = recorded.some(({ lives }) => lives)
  // The last invoice of one that has ended is its own, unless another has taken its place.
  if (named?.lives === true || (named !== undefined && !anyLives)) return { kind: 'own', subscriptionId }
  if (named === undefined && !anyLives && !ofAnother)
    return { kind: 'wait', reason: 'subscription_not_linked' }
  return { kind: 'quarantine', reason: 'ambiguous_invoice_subscription' }
}

/** The newest payment with what the one before it had paid for, unless a report has followed that and tells itself. */
export const joinOutcomes = (
  outcome: InvoiceOutcome,
  before: InvoiceOutcome | null,
  reportedAt: Instant,
): InvoiceOutcome => {
  const paidThrough = before === null || before.at < reportedAt ? {} : { ...before.paidThrough }
  for (const [item, end] of Object.entries(outcome.paidThrough))
    paidThrough[item] = Math.max(end, paidThrough[item] ?? 0)
  return { ...outcome, paidThrough }
}

const ALLOWING = new Set(['active', 'trialing', 'past_due'])

/**
 * A subscription as its newest report and its newest payment leave it. Only a report from after the payment may undo
 * what the payment did; of the same second it may not. `previous`: as it was stored.
 */
export const settleReport = (
  { subscription, at }: Report,
  outcome: InvoiceOutcome | null,
  previous: Subscription | null,
): Subscription => {
  const reported = remember({ previous, current: subscription, openInvoices: [], now: at })
  if (!ALLOWING.has(reported.status)) return { ...reported, unpaid: null }
  const followed = outcome === null || outcome.at < at
  const current = followed ? reported : paidUp(reported, outcome)
  if (!followed && outcome.payment === 'paid')
    return { ...current, status: current.status === 'past_due' ? 'active' : current.status, unpaid: null }
  const pastDue = current.status === 'past_due'
  // Reported otherwise after the payment failed: it was settled in some other way.
  if (followed && !pastDue) return { ...current, unpaid: null }
  const failed = outcome?.payment === 'failed' ? { invoiceId: outcome.invoiceId, since: outcome.at } : null
  const told = pastDue ? { invoiceId: null, since: at } : null
  return { ...current, unpaid: oldest(previous?.unpaid ?? null, failed, told) }
}

/** With the periods that invoices paid for; past its trial it is none any more. */
const paidUp = (reported: Subscription, { at, paidThrough }: InvoiceOutcome): Subscription => {
  const sole = reported.items.length === 1
  const items = reported.items.map((item) => {
    const through = paidThrough[item.id] ?? (sole ? paidThrough[''] : undefined)
    return { ...item, periodEnd: Math.max(item.periodEnd ?? 0, through ?? 0) || item.periodEnd }
  })
  const { status, trialEnd } = reported
  const trialOver =
    status === 'trialing' &&
    trialEnd !== null &&
    trialEnd <= at &&
    items.some(({ periodEnd }) => periodEnd !== null && periodEnd > trialEnd)
  return { ...reported, items, status: trialOver ? 'active' : status }
}

// Once: neither a retry nor a later report begins the grace anew.
const oldest = (...debts: Subscription['unpaid'][]): Subscription['unpaid'] => {
  const since = earliest(...debts.map((debt) => debt?.since ?? null))
  const invoiceId = debts.find((debt) => debt !== null && debt.invoiceId !== null)?.invoiceId ?? null
  return since === null ? null : { invoiceId, since }
}

/** The period ends that an invoice's subscription lines pay for, in the shapes of all versions. */
export const paidThroughOf = (invoice: unknown): Record<string, Instant> => {
  const ends: Record<string, Instant> = {}
  const lines = fieldsOf(fieldsOf(invoice)?.['lines'])?.['data']
  for (const raw of Array.isArray(lines) ? lines : []) {
    const line = fieldsOf(raw) ?? {}
    const period = fieldsOf(line['period'])
    const item = itemOfLine(line)
    const end = period === null || item === null ? null : instantOf(period, 'end', [])
    if (item !== null && end !== null) ends[item] = Math.max(end, ends[item] ?? 0)
  }
  return ends
}

/** The subscription item of a line; '' where it is a subscription's but names none, null where it is none. */
const itemOfLine = (line: Fields): string | null => {
  const details = fieldsOf(fieldsOf(line['parent'])?.['subscription_item_details'])
  if (details !== null) return idOf(details['subscription_item']) ?? ''
  return line['type'] === 'subscription' ? (idOf(line['subscription_item']) ?? '') : null
}
