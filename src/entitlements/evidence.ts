// RULE: what an event says beside the live state: whether its invoice may be trusted, where it disagrees, whether it
// proves that Stripe answered with an older state. It never decides access.
import type { Reason } from '../reasons.ts'
import { disagreements, type Disagreement } from './disagreement.ts'
import type { Invoice, Subscription } from './model.ts'
import { readInvoice, readSubscription } from './snapshot.ts'

/** What an event brings along: identity and evidence, never state. */
export type Evidence = {
  receivedSeq: number
  epoch: number
  topic: 'subscription' | 'invoice' | 'other'
  /** `data.object` as received; null for thin events. */
  object: Record<string, unknown> | null
  subscriptionId: string | null
  invoiceId: string | null
}

// From these no subscription comes back.
const ENDED = new Set(['canceled', 'incomplete_expired'])
export const isEnded = (status: string): boolean => ENDED.has(status)

/** The subscription that the event is about, where it is about one. */
export const aboutOf = (evidence: Evidence | null): string | null =>
  evidence?.topic === 'subscription' ? evidence.subscriptionId : null

export type InvoiceQuestion =
  | { kind: 'note'; reason: Reason }
  | { kind: 'stop'; reason: Reason; error: string }
  | null

/** Is the event's invoice one of this customer's subscriptions? `live` is the invoice as Stripe has it now, `known` what was read. */
export const askInvoice = (
  evidence: Evidence | null,
  live: Invoice | null,
  known: readonly Subscription[],
): InvoiceQuestion => {
  if (evidence?.topic !== 'invoice') return null
  const payload = evidence.object === null ? null : readInvoice(evidence.object)
  if (payload?.kind === 'unrecognized')
    return { kind: 'stop', reason: 'unrecognized_stripe_payload', error: payload.why }
  const subscriptionId = live?.subscriptionId ?? payload?.value.subscriptionId ?? null
  if (subscriptionId === null) return { kind: 'note', reason: 'invoice_without_subscription' }
  if (known.some(({ id }) => id === subscriptionId)) return null
  return { kind: 'stop', reason: 'ambiguous_invoice_subscription', error: subscriptionId }
}

/** Where the payload's decision inputs differ from what was read. */
export const compare = (evidence: Evidence | null, live: readonly Subscription[]): Disagreement[] => {
  if (evidence?.topic !== 'subscription' || evidence.object === null) return []
  const mine = live.find(({ id }) => id === evidence.subscriptionId)
  return mine === undefined
    ? [{ input: 'status', payload: statusIn(evidence.object), live: null }]
    : disagreements(evidence.object, mine)
}

const statusIn = (object: Record<string, unknown>) =>
  typeof object['status'] === 'string' ? object['status'].slice(0, 40) : null

/** No subscription comes back from an end: a read that says so is older than the event. */
export const suspectsStaleRead = (evidence: Evidence | null, live: readonly Subscription[]): boolean => {
  if (evidence?.topic !== 'subscription' || evidence.object === null) return false
  const payload = readSubscription(evidence.object)
  const mine = live.find(({ id }) => id === evidence.subscriptionId)
  return (
    payload.kind === 'read' && mine !== undefined && isEnded(payload.value.status) && !isEnded(mine.status)
  )
}
