// The link of an event's customer to its tenant, where the event's data or the customer names one; else what the
// missing link means for this event.
import { insertAudit } from '../audit/queries.ts'
import { linkTenant, type LinkSource } from '../customers/link.ts'
import { drawTicket, rememberCustomer } from '../customers/queries.ts'
import { waitsForLink } from '../entitlements/guard.ts'
import { readCustomer } from '../entitlements/snapshot.ts'
import type { Outcome } from '../outcome.ts'
import type { Transaction } from '../postgres/pool.ts'
import type { StripeReader } from '../stripe/read.ts'
import type { EventRow } from './attempt-queries.ts'
import type { Interpretation } from './interpret.ts'

export type Linked =
  /** By this event. */
  | { kind: 'linked' }
  | { kind: 'known' }
  /** `lookup`: number of the look at Stripe that found no tenant, where there was one. */
  | { kind: 'stop'; outcome: Outcome; lookup: number | null }

/**
 * Links where it can; stops the event where it must wait, is ambiguous, or has no bearing without a tenant. `reader` is
 * null in payload mode: then all waits whose effect could not be had again.
 */
export const linkFromEvent = async (
  tx: Transaction,
  event: EventRow,
  customerId: string,
  meaning: Extract<Interpretation, { kind: 'reconcile' }>,
  reader: (() => StripeReader) | null,
): Promise<Linked> => {
  const {
    tenant_id: bound,
    taken_from: taken,
    lookup_ticket: looked,
  } = await rememberCustomer(tx, {
    account: event.account,
    customerId,
  })
  // An operator took it away from that tenant: what Stripe still says does not give it back.
  if (meaning.hint.kind === 'tenant' && meaning.hint.tenantId !== taken)
    return bind(tx, event, customerId, meaning.hint)
  if (bound !== null) return { kind: 'known' }
  const waits = reader === null ? waitsForLink(event.type) : meaning.impliesSubscription
  if (!waits) return stop({ kind: 'done', processed: 'ignored', reason: 'no_tenant' })
  if (reader === null) return stop(waitForLink)
  // Stripe is asked once; after that the link will come by an event, the API or a person.
  if (looked > event.received_seq) return stop(waitForLink)
  const { ticket } = await drawTicket(tx)
  const raw = await reader().customer(customerId)
  if (raw === null) return stop({ kind: 'permanent', reason: 'unknown_at_stripe', error: customerId })
  const customer = readCustomer(raw)
  if (customer.kind === 'unrecognized')
    return stop({ kind: 'permanent', reason: 'unrecognized_stripe_payload', error: customer.why })
  if (customer.value.deleted) return stop({ kind: 'done', processed: 'ignored', reason: 'no_tenant' })
  const tenantId = customer.value.tenantId
  return tenantId === null || tenantId === taken
    ? stop(waitForLink, ticket)
    : bind(tx, event, customerId, { tenantId, by: 'metadata' })
}

const waitForLink: Outcome = { kind: 'deferred', reason: 'customer_not_linked', error: null }

const stop = (outcome: Outcome, lookup: number | null = null): Linked => ({ kind: 'stop', outcome, lookup })

const bind = async (
  tx: Transaction,
  event: EventRow,
  customerId: string,
  hint: { tenantId: string; by: LinkSource },
): Promise<Linked> => {
  const link = await linkTenant(tx, { account: event.account, customerId, ...hint })
  if (link.kind === 'conflict') {
    const error = `bound: ${link.boundTenantId ?? link.boundCustomerId ?? ''}; named: ${hint.tenantId}`
    return stop({ kind: 'permanent', reason: 'ambiguous_customer_linkage', error })
  }
  if (link.kind === 'unchanged') return { kind: 'known' }
  await insertAudit(tx, {
    account: event.account,
    eventId: event.event_id,
    epoch: event.epoch,
    customerId,
    subscriptionId: null,
    kind: 'linked',
    reason: hint.by,
    detail: { tenant_id: hint.tenantId },
  })
  return { kind: 'linked' }
}
