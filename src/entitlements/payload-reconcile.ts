// One event -> what follows for its customer, where nothing can be read (payload mode), inside the caller's savepoint
// and under the customer's lock.
//
// guard.ts says which event counts. What is decided is a function of the newest report and payment of each subscription,
// as of the time of the newest event, never of the time at which it was worked: the views apply time on read. So an
// event that comes late, or was deferred for a day, ends no grace that one in time would not have ended.
// Whatever is ambiguous stops here before anything is written.
import assert from 'node:assert/strict'
import type { WorkerContext } from '../context.ts'
import type { Transaction } from '../postgres/pool.ts'
import type { Instant } from '../time.ts'
import { isOver } from './access.ts'
import {
  joinOutcomes,
  judgeOutcome,
  judgeReport,
  paidThroughOf,
  roleOf,
  sourceOf,
  type Payment,
  type Report,
  type Told,
  type Verdict,
} from './guard.ts'
import type { Invoice } from './model.ts'
import { findCustomerOfSubscription } from './payload-queries.ts'
import {
  asOf,
  loadKnown,
  paymentOf,
  settled,
  termsAt,
  writeFromPayload,
  type FromPayload,
  type Known,
  type PayloadInput,
} from './payload-write.ts'
import { saveInvoices } from './queries.ts'
import { readInvoice, readSubscription } from './snapshot.ts'

export type PayloadEvent = {
  type: string
  isInvoice: boolean
  /** When Stripe made it. */
  at: Instant | null
  object: Record<string, unknown>
}

type Parts = Pick<WorkerContext, 'catalog'>

const APPLY: Verdict = { kind: 'apply' }

/** What an event of a linked customer does by itself. */
export const reconcileFromPayload = async (
  parts: Parts,
  tx: Transaction,
  input: PayloadInput,
  event: PayloadEvent,
): Promise<FromPayload> => {
  const role = roleOf(event.type)
  if (event.isInvoice)
    return fromInvoice(parts, tx, input, event, role.kind === 'outcome' ? role.payment : null)
  if (role.kind === 'report') return fromReport(parts, tx, input, event, role.told)
  if (role.kind === 'deletion') {
    const known = await loadKnown(tx, input)
    return writeFromPayload(parts, tx, input, known, { at: event.at, deleted: true })
  }
  return settled('no_change', null, null)
}

/** Decides again, as of the same time, from what is known: another catalog or other rules are in force. */
export const decideAgain = async (parts: Parts, tx: Transaction, input: PayloadInput): Promise<FromPayload> =>
  asOf(input.customer, null) === null
    ? settled('no_change', null, null)
    : writeFromPayload(parts, tx, input, await loadKnown(tx, input), { at: null })

const fromReport = async (
  parts: Parts,
  tx: Transaction,
  input: PayloadInput,
  { at, object }: PayloadEvent,
  told: Told,
): Promise<FromPayload> => {
  const reading = readSubscription(object)
  if (reading.kind === 'unrecognized') return unreadable(reading.why)
  if (at === null) return unreadable('no time')
  const { id } = reading.value
  if (await isOfAnother(tx, input, id)) return unreadable(`${id} is recorded for another customer`)
  const known = await loadKnown(tx, input)
  const report: Report = { told, at, subscription: reading.value }
  const before = known.reports.get(id)
  const verdict = input.accept === true ? APPLY : judgeReport(report, before?.report ?? null)
  if (verdict.kind !== 'apply') return unapplied(verdict, id)
  return writeFromPayload(parts, tx, input, known, {
    at,
    reported: { report, outcome: before?.outcome ?? null },
  })
}

const fromInvoice = async (
  parts: Parts,
  tx: Transaction,
  input: PayloadInput,
  { at, object }: PayloadEvent,
  payment: Payment | null,
): Promise<FromPayload> => {
  const reading = readInvoice(object)
  if (reading.kind === 'unrecognized') return unreadable(reading.why)
  const invoice = reading.value
  if (payment === null || invoice.subscriptionId === null) {
    await saveInvoices(tx, input.account, [invoice], at)
    return settled(
      'no_change',
      invoice.subscriptionId === null ? 'invoice_without_subscription' : null,
      invoice.subscriptionId,
    )
  }
  if (at === null) return unreadable('no time')
  const known = await loadKnown(tx, input)
  const stop = await stopForeign(parts, tx, input, known, invoice, at)
  if (stop !== null) return stop
  const newest = paymentOf(input.customer)
  const verdict = input.accept === true ? APPLY : judgeOutcome({ payment, at }, newest)
  if (verdict.kind === 'quarantine') return unapplied(verdict, invoice.id)
  await saveInvoices(tx, input.account, [invoice], at)
  if (verdict.kind !== 'apply') return unapplied(verdict, invoice.subscriptionId)
  const reported = known.reports.get(invoice.subscriptionId)
  assert(reported !== undefined, 'an own subscription is recorded')
  const outcome = joinOutcomes(
    { payment, at, invoiceId: invoice.id, paidThrough: payment === 'paid' ? paidThroughOf(object) : {} },
    reported.outcome,
    reported.report.at,
  )
  return writeFromPayload(parts, tx, input, known, {
    at,
    reported: { report: reported.report, outcome },
    payment: { payment, at },
  })
}

const stopForeign = async (
  parts: Parts,
  tx: Transaction,
  input: PayloadInput,
  { subscriptions }: Known,
  { subscriptionId }: Invoice,
  at: Instant,
): Promise<FromPayload | null> => {
  const terms = termsAt(parts, input.customer, asOf(input.customer, at) ?? at)
  const recorded = subscriptions.map((each) => ({ id: each.id, lives: !isOver(each, terms) }))
  const ofAnother = subscriptionId !== null && (await isOfAnother(tx, input, subscriptionId))
  const source = sourceOf(subscriptionId, recorded, ofAnother)
  if (source.kind === 'own' || source.kind === 'none') return null
  return {
    kind: 'stopped',
    how: source.kind === 'wait' ? 'deferred' : 'permanent',
    reason: source.reason,
    error: subscriptionId ?? '',
  }
}

const isOfAnother = async (
  tx: Transaction,
  { account, customer }: PayloadInput,
  subscriptionId: string,
): Promise<boolean> => {
  const owner = await findCustomerOfSubscription(tx, { account, subscriptionId })
  return owner !== null && owner !== customer.customer_id
}

const unreadable = (error: string): FromPayload => ({
  kind: 'stopped',
  how: 'permanent',
  reason: 'unrecognized_stripe_payload',
  error,
})

const unapplied = (verdict: Exclude<Verdict, { kind: 'apply' }>, subject: string): FromPayload => {
  switch (verdict.kind) {
    case 'repeat':
      return settled('no_change', null, subject)
    case 'discard':
      return settled('discarded', verdict.reason, subject)
    case 'quarantine':
      return { kind: 'stopped', how: 'permanent', reason: verdict.reason, error: subject }
  }
}
