// What follows from what Stripe said: for every item the features of its plan, each with its state, its ends and
// why; or the reason why a person must look first. It must never take away, or give, what it could not judge: a
// price or a status that it does not know leaves what is held as it is. Raise DECISION_VERSION when the same
// snapshot would be decided otherwise, or reads that are covered would keep the old decision.
import { earliest } from '../time.ts'
import type { Instant } from '../time.ts'
import { accessOf, isOver, isUnknown } from './access.ts'
import type { Access, Terms } from './access.ts'
import { mapPrice } from './catalog.ts'
import type { Catalog, Mapping } from './catalog.ts'
import type { Decision, Entitlement, FeatureValue, Finding, Item, Snapshot, Subscription } from './model.ts'

export const DECISION_VERSION = 1

/** The feature that carries the plan's name. No feature of a catalog begins with "$". */
const PLAN_FEATURE = '$plan'

export type Question = {
  snapshot: Snapshot
  catalog: Catalog
  /** Price id -> plan, as remembered from earlier decisions. */
  remembered: Record<string, string>
  now: Instant
  mode: 'live' | 'payload'
  /** The subscription that the event is about, where it is known: another one's unmapped price is a finding only. */
  about?: string | null
  /** A person has looked: subscriptions that compete are no reason to stop. */
  accept?: boolean
}

type Judged = { subscription: Subscription; item: Item; access: Access; mapping: Mapping }

/** Entitlements of one customer at `snapshot.clockAt`, or `now` where there is no test clock. */
export const decide = (question: Question): Decision => {
  const { snapshot, catalog, mode } = question
  const terms: Terms = { catalog, mode, at: snapshot.clockAt ?? question.now, deleted: snapshot.deleted }
  const rivals = competing(snapshot.subscriptions, terms)
  const asks = catalog.subscriptions === 'quarantine' || mode === 'payload'
  if (rivals.length > 1 && asks && question.accept !== true)
    return { kind: 'blocked', reason: 'ambiguous_multi_subscription', subjects: rivals }

  const judged = judge(question, terms)
  const unmapped = judged.filter(({ access, mapping }) => access.granted && mapping.kind === 'unmapped')
  const blockers = blocking(judged, unmapped, question.about ?? null)
  if (blockers.length > 0)
    return {
      kind: 'blocked',
      reason: 'unmapped_stripe_price',
      subjects: distinct(blockers.map((each) => each.item.priceId)),
    }

  const unknown = snapshot.subscriptions.filter((subscription) => isUnknown(subscription, terms))
  const entitlements = judged.flatMap((each) => rowsOf(each, terms))
  return {
    kind: 'decided',
    entitlements,
    held: distinct([...unknown.map(({ id }) => id), ...unmapped.map(({ item }) => item.id)]),
    findings: [
      ...unknown.map(unknownStatus),
      ...unmapped.map(unmappedPrice),
      ...doubleBilled(snapshot.customerId, entitlements, catalog),
    ],
    mappings: Object.fromEntries(
      judged.flatMap(({ item, mapping }) =>
        mapping.kind === 'plan' && (mapping.by === 'lookup' || mapping.by === 'product')
          ? [[item.priceId, mapping.plan]]
          : [],
      ),
    ),
    recheckAt: earliest(...entitlements.map((row) => row.recheckAt)),
  }
}

/**
 * Subscriptions of which only one may live: all that are not over, without those that give nothing and so cannot
 * contradict: `incomplete`, and in live mode, where the next read tells, `unpaid` and `paused`.
 */
const competing = (subscriptions: Subscription[], terms: Terms): string[] => {
  const idle = terms.mode === 'live' ? ['incomplete', 'unpaid', 'paused'] : ['incomplete']
  return distinct(
    subscriptions.filter((each) => !idle.includes(each.status) && !isOver(each, terms)).map(({ id }) => id),
  )
}

const judge = ({ snapshot, catalog, remembered }: Question, terms: Terms): Judged[] =>
  snapshot.subscriptions.flatMap((subscription) =>
    subscription.items.flatMap((item) => {
      const access = accessOf(subscription, item, terms)
      return access === null
        ? []
        : [{ subscription, item, access, mapping: mapPrice(catalog, remembered, item) }]
    }),
  )

/**
 * The unmapped prices that stop the decision: those of subscriptions that give access and of which nothing is
 * mapped, as long as no other subscription gives any and the event is not about another one.
 */
const blocking = (judged: Judged[], unmapped: Judged[], about: string | null): Judged[] => {
  if (judged.some(({ access, mapping }) => access.granted && mapping.kind === 'plan')) return []
  return about === null || unmapped.some(({ subscription }) => subscription.id === about) ? unmapped : []
}

const rowsOf = ({ subscription, item, access, mapping }: Judged, { catalog, at }: Terms): Entitlement[] => {
  const plan = mapping.kind === 'plan' ? catalog.plans[mapping.plan] : undefined
  if (mapping.kind !== 'plan' || plan === undefined) return []
  const row = (feature: string, value: FeatureValue): Entitlement => ({
    feature,
    value,
    subscriptionId: subscription.id,
    itemId: item.id,
    plan: mapping.plan,
    rank: plan.rank,
    state: access.state,
    granted: access.granted,
    // What is given now has begun, whichever clock is ahead.
    from: access.granted ? earliest(subscription.startedAt, at) : subscription.startedAt,
    finalAt: access.finalAt,
    recheckAt: access.recheckAt,
    because: {
      ...access.facts,
      rule: access.rule,
      status: subscription.status,
      subscriptionId: subscription.id,
      itemId: item.id,
      priceId: item.priceId,
    },
  })
  const features = Object.entries(plan.features).flatMap(([feature, given]) => {
    const value = typeof given === 'object' ? item.quantity : given
    // A metered item has no seats, which is not the same as none.
    return value === null ? [] : [row(feature, value)]
  })
  return [row(PLAN_FEATURE, mapping.plan), ...features]
}

const unknownStatus = ({ id, status }: Subscription): Finding => ({
  code: 'unknown_subscription_status',
  subject: id,
  detail: { status },
})

const unmappedPrice = ({ subscription, item }: Judged): Finding => ({
  code: 'unmapped_stripe_price',
  subject: item.priceId,
  detail: {
    subscriptionId: subscription.id,
    itemId: item.id,
    lookupKey: item.lookupKey,
    productId: item.productId,
  },
})

/** Two subscriptions that give a base plan at once. Items of one subscription are one bill. */
const doubleBilled = (customerId: string, entitlements: Entitlement[], catalog: Catalog): Finding[] => {
  const base = entitlements.filter(
    ({ feature, granted, plan }) =>
      feature === PLAN_FEATURE && granted && catalog.plans[plan]?.addon === false,
  )
  const subscriptions = distinct(base.map(({ subscriptionId }) => subscriptionId))
  if (subscriptions.length < 2) return []
  const plans = distinct(base.map(({ plan }) => plan)).join(', ')
  return [
    {
      code: 'double_billed',
      subject: customerId,
      detail: { subscriptions: subscriptions.join(', '), plans },
    },
  ]
}

const distinct = (ids: string[]): string[] => [...new Set(ids)].toSorted()
