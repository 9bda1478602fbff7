// Status -> access: what one item of one subscription gives at one time, whatever plan it buys. The table of
// rules.md, section 6. Status decides, dates only bound: a date must never give access that the status denies.
import { DAY_MS, earliest, toIso } from '../time.ts'
import type { Instant } from '../time.ts'
import type { Catalog } from './catalog.ts'
import type { AccessState, Item, Subscription } from './model.ts'

export type Terms = {
  catalog: Catalog
  /** The customer's now. */
  at: Instant
  mode: 'live' | 'payload'
  /** Was the customer deleted at Stripe? */
  deleted: boolean
}

/** `finalAt` ends access by itself; past `recheckAt` it is stale until Stripe is read again. */
export type Access = {
  rule: string
  state: AccessState
  granted: boolean
  finalAt: Instant | null
  recheckAt: Instant | null
  /** What the rule looked at; instants as ISO text. */
  facts: Record<string, string | number | boolean | null>
}

const TERMINAL = ['canceled', 'incomplete_expired']
const DENYING = ['unpaid', 'paused', 'incomplete']
const ALLOWING = ['trialing', 'active', 'past_due']

/**
 * What `item` gives or no longer gives; null where there is nothing to say: nothing ever came of the subscription
 * (`incomplete_expired`), or its status is unknown.
 */
export const accessOf = (subscription: Subscription, item: Item, terms: Terms): Access | null => {
  const { status, statusDetail } = subscription
  if (status === 'incomplete_expired' || isUnknown(subscription, terms)) return null
  if (isOver(subscription, terms)) return over(subscription, terms)
  if (status === 'incomplete' && terms.catalog.pendingFirstPayment === 'deny')
    return denied(subscription, 'pending', 'first_payment_pending', {})
  if (status === 'unpaid' || status === 'paused')
    return denied(subscription, 'suspended', status, { statusDetail })
  return allowed(subscription, item, terms)
}

/** A status that this release cannot judge. A subscription that has ended, by date, needs no judgement. */
export const isUnknown = (subscription: Subscription, { at, deleted }: Terms): boolean =>
  ![...TERMINAL, ...DENYING, ...ALLOWING].includes(subscription.status) &&
  !deleted &&
  (subscription.endedAt === null || subscription.endedAt > at)

/** Is it over: by its customer, by its status, or because a final end has passed? */
export const isOver = (subscription: Subscription, { at, deleted }: Terms): boolean => {
  const end = finalEndOf(subscription)
  return deleted || TERMINAL.includes(subscription.status) || (end !== null && end <= at)
}

/** The earliest end that needs no further reading: `ended_at`, or the cancellation that is scheduled. */
const finalEndOf = ({ cancelAt, cancelAtPeriodEnd, endedAt, items }: Subscription): Instant | null => {
  const periodEnd = cancelAtPeriodEnd ? earliest(...items.map((item) => item.periodEnd)) : null
  return earliest(endedAt, cancelAt ?? periodEnd)
}

const over = (subscription: Subscription, { deleted }: Terms): Access => {
  const isCanceled = subscription.status === 'canceled'
  return {
    rule: deleted ? 'customer_deleted' : isCanceled ? 'canceled' : 'final_end',
    state: 'ended',
    granted: false,
    // A cancellation that was scheduled for later has been overtaken.
    finalAt: isCanceled || deleted ? subscription.endedAt : finalEndOf(subscription),
    recheckAt: null,
    facts: isCanceled ? { statusDetail: subscription.statusDetail } : {},
  }
}

const denied = (
  subscription: Subscription,
  state: 'suspended' | 'pending',
  rule: string,
  facts: Access['facts'],
): Access => ({ rule, state, granted: false, finalAt: finalEndOf(subscription), recheckAt: null, facts })

const allowed = (subscription: Subscription, item: Item, terms: Terms): Access => {
  const { status, trialEnd, pause } = subscription
  const grace = graceOf(subscription, item, terms)
  const pauseEnd = pauseEndOf(subscription, terms.catalog)
  const facts = { ...grace?.facts, ...pauseFacts(pause) }
  if (grace !== null && grace.endsAt <= terms.at)
    return denied(subscription, 'suspended', 'grace_over', facts)
  if (pauseEnd !== null && pauseEnd <= terms.at)
    return {
      ...denied(subscription, 'suspended', 'collection_paused', facts),
      recheckAt: pause?.resumesAt ?? null,
    }
  const trialing = status === 'trialing'
  const pending = status === 'incomplete'
  return {
    rule: grace ? 'grace' : trialing ? 'trial' : pending ? 'first_payment_allowed' : 'active',
    state: grace ? 'grace' : trialing ? 'trial' : 'active',
    granted: true,
    finalAt: finalEndOf(subscription),
    recheckAt: earliest(
      trialing ? trialEnd : null,
      item.periodEnd,
      grace?.endsAt,
      pauseEnd,
      pause?.resumesAt,
    ),
    facts: trialing ? { ...facts, trialEnd: toIso(trialEnd) } : facts,
  }
}

type Grace = { endsAt: Instant; facts: Access['facts'] }

/** Owed money: past due, and in payload mode also a failed payment that no subscription event has followed yet. */
const graceOf = (subscription: Subscription, item: Item, { catalog, at, mode }: Terms): Grace | null => {
  const { status, unpaid, trialEnd } = subscription
  const told = mode === 'payload' && unpaid !== null && ALLOWING.includes(status)
  if (status !== 'past_due' && !told) return null
  // Still in the first period after the trial: nothing was ever paid.
  const neverPaid = trialEnd !== null && item.periodStart === trialEnd
  const days = (neverPaid ? catalog.graceAfterTrial : undefined) ?? catalog.graceDays
  const since = unpaid?.since ?? at
  const endsAt = since + days * DAY_MS
  const facts = {
    unpaidSince: toIso(since),
    invoiceId: unpaid?.invoiceId ?? null,
    graceEndsAt: toIso(endsAt),
  }
  return { endsAt, facts }
}

/** Paused with its invoices voided, service goes on as long as it was paid, where the catalog says so. */
const pauseEndOf = ({ pause, pausedUntil }: Subscription, catalog: Catalog): Instant | null =>
  pause?.behavior === 'void' && catalog.pausedCollection.void === 'suspend' ? pausedUntil : null

const pauseFacts = (pause: Subscription['pause']): Access['facts'] =>
  pause === null ? {} : { pauseBehavior: pause.behavior, resumesAt: toIso(pause.resumesAt) }
