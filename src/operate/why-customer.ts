// RULE: the links of the chain that come from one customer: account, read, subscription, price, access, events, Stripe.
import { toIso } from '../time.ts'
import type { Link, WhyCustomer, WhyFacts, WhySource } from './why-facts.ts'

/** In the order in which access comes about. */
export const customerLinks = (facts: WhyFacts, customer: WhyCustomer): Link[] => [
  accountLink(customer),
  readLink(customer),
  subscriptionLink(facts, customer),
  ...priceLinks(customer),
  ...stateLinks(facts, customer),
  ...eventLinks(customer),
  liveLink(customer),
]

const accountLink = ({ account, accountState }: WhyCustomer): Link =>
  accountState === 'runs'
    ? { link: 'account', ok: true, says: `Account ${account} runs.` }
    : {
        link: 'account',
        ok: false,
        says: `Account ${account} does not run (${accountState}): nothing new is applied.`,
      }

const readLink = ({ customerId, readAt, evidenceAt, deleted }: WhyCustomer): Link => {
  if (deleted) return { link: 'customer', ok: false, says: `${customerId} was deleted at Stripe.` }
  if (readAt !== null)
    return { link: 'customer', ok: true, says: `${customerId} was read at ${toIso(readAt)}.` }
  if (evidenceAt !== null)
    return {
      link: 'customer',
      ok: true,
      says: `${customerId}: newest event of ${toIso(evidenceAt)} (payload mode).`,
    }
  return {
    link: 'customer',
    ok: false,
    says: `${customerId} was never read: no event of it was applied yet.`,
  }
}

const GIVING = new Set(['trialing', 'active', 'past_due'])
const WORDS: Record<string, string> = {
  trialing: 'is on trial',
  active: 'is active',
  past_due: 'is past due',
  unpaid: 'is unpaid: access is suspended',
  paused: 'is paused: access is suspended',
  incomplete: 'waits for its first payment',
  incomplete_expired: 'never had its first payment',
  canceled: 'is canceled',
}

const subscriptionLink = (_facts: WhyFacts, { customerId, subscriptions }: WhyCustomer): Link => {
  if (subscriptions.length === 0)
    return { link: 'subscription', ok: false, says: `${customerId} has no subscription.` }
  const told = subscriptions.map(
    ({ id, status }) => `${id} ${WORDS[status] ?? `has the unknown status ${status}`}`,
  )
  return {
    link: 'subscription',
    ok: subscriptions.some(({ status }) => GIVING.has(status)),
    says: `${told.join('; ')}.`,
  }
}

const priceLinks = ({ subscriptions }: WhyCustomer): Link[] => {
  const live = subscriptions.filter(({ status }) => GIVING.has(status)).flatMap(({ items }) => items)
  return [...new Map(live.map((item) => [item.priceId, item])).values()].map(({ priceId, plan, ignored }) => {
    if (ignored) return { link: 'price', ok: null, says: `${priceId} buys nothing here (ignoredPrices).` }
    return plan === null
      ? { link: 'price', ok: false, says: `${priceId} is in no plan of the catalog (unmapped_stripe_price).` }
      : { link: 'price', ok: true, says: `${priceId} buys the plan ${plan}.` }
  })
}

const stateLinks = ({ feature, sources }: WhyFacts, { account, customerId }: WhyCustomer): Link[] => {
  const mine = sources.filter((each) => each.account === account && each.customerId === customerId)
  const rows = mine.filter((each) => each.feature === feature)
  return (rows.length > 0 ? rows : mine).map((row) => ({
    link: 'access',
    ok: row.granted && row.feature === feature,
    says:
      row.feature === feature
        ? toldOf(row)
        : `The plan ${row.plan} of ${row.subscriptionId} does not give ${feature}.`,
  }))
}

const toldOf = (row: WhySource): string => {
  const rule = RULES[String(row.because['rule'])] ?? String(row.because['rule'])
  const graceEnd = row.because['graceEndsAt']
  const facts = [
    row.held ? 'kept by a hold of revocations' : null,
    row.stale ? 'past its end, and Stripe was not read since (stale)' : null,
    typeof graceEnd === 'string' ? `grace until ${graceEnd}` : null,
    row.finalAt === null ? null : `ends ${toIso(row.finalAt)}`,
    row.recheckAt === null ? null : `paid or free until ${toIso(row.recheckAt)}`,
  ].filter((fact) => fact !== null)
  return `${row.plan} of ${row.subscriptionId} ${row.granted ? 'gives it' : `gives nothing (${row.state})`}: ${[rule, ...facts].join(', ')}.`
}

const RULES: Record<string, string> = {
  active: 'the subscription is active',
  trial: 'the trial runs',
  grace: 'a payment failed, and the days of grace run',
  grace_over: 'a payment failed, and the days of grace are over',
  unpaid: 'Stripe gave up collecting the payment',
  paused: 'the subscription is paused',
  collection_paused: 'collection is paused with its invoices voided, and what was paid is used up',
  first_payment_pending: 'the first payment is not complete',
  first_payment_allowed: 'the first payment is under way, and the catalog allows that',
  canceled: 'the subscription was canceled',
  final_end: 'the scheduled end has passed',
  customer_deleted: 'the customer was deleted at Stripe',
}

const eventLinks = ({ newestEvent, waiting, dead, findings }: WhyCustomer): Link[] => [
  ...(newestEvent === null
    ? []
    : [
        {
          link: 'event',
          ok: newestEvent.status === 'processed',
          says: `Newest event ${newestEvent.eventId} (${newestEvent.type}) is ${newestEvent.status}${
            newestEvent.reason === null ? '' : ` (${newestEvent.reason})`
          }.`,
        },
      ]),
  ...(waiting > 0
    ? [{ link: 'event', ok: null, says: `${waiting} events of the customer are not settled yet.` }]
    : []),
  ...(dead > 0
    ? [{ link: 'event', ok: false, says: `${dead} dead letters of the customer: see dead list.` }]
    : []),
  ...findings.map((code) => ({ link: 'finding', ok: null, says: `Open finding ${code}.` })),
]

const liveLink = ({ live }: WhyCustomer): Link => {
  switch (live.kind) {
    case 'agrees':
      return { link: 'live', ok: true, says: 'Stripe says the same just now.' }
    case 'differs':
      return { link: 'live', ok: false, says: `Stripe says otherwise just now: ${live.would}.` }
    case 'unknown':
      return { link: 'live', ok: null, says: `Stripe was not asked: ${live.why}.` }
  }
}
