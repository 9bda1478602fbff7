// Are recorded objects understood? Each goes through the service's own rules (snapshot.ts, decide.ts), and what they
// make of it is compared with a second, plain reading of the same JSON that shares no code with them.
import { parseCatalog, type Catalog } from '../../src/entitlements/catalog.ts'
import { decide } from '../../src/entitlements/decide.ts'
import type { Decision, Subscription } from '../../src/entitlements/model.ts'
import { readInvoice, readSubscription, remember } from '../../src/entitlements/snapshot.ts'
import { plainInvoice, plainSubscription, type PlainSubscription } from './plain.ts'

/** `not_understood`: refused, and said so. `misread`: taken for something that it is not, which is a bug. */
export type Verdict =
  | { kind: 'understood' }
  | { kind: 'not_understood'; why: string }
  | { kind: 'misread'; why: string }

type Expected = { granted: boolean; state: string }

/** What a status gives at a time at which nothing else ends it. */
const EXPECTED: Record<string, Expected> = {
  active: { granted: true, state: 'active' },
  trialing: { granted: true, state: 'trial' },
  past_due: { granted: true, state: 'grace' },
  unpaid: { granted: false, state: 'suspended' },
  paused: { granted: false, state: 'suspended' },
  incomplete: { granted: false, state: 'pending' },
  incomplete_expired: { granted: false, state: 'ended' },
  canceled: { granted: false, state: 'ended' },
}

/** A recorded subscription, read and decided with a catalog in which every price of it buys the same plan. */
export const judgeSubscription = (raw: unknown): Verdict => {
  const reading = readSubscription(raw)
  if (reading.kind === 'unrecognized') return { kind: 'not_understood', why: withoutIds(reading.why) }
  const plain = plainSubscription(raw)
  const expected = EXPECTED[plain.status]
  const catalog = catalogOf(plain)
  if (catalog === null) return { kind: 'not_understood', why: 'a price that no catalog can name' }
  const decision = decideAlone(reading.value, plain, catalog)
  if (expected === undefined)
    return decision.kind === 'decided' && decision.held.includes(plain.id)
      ? { kind: 'not_understood', why: `unknown status ${plain.status}` }
      : { kind: 'misread', why: `unknown status ${plain.status} was decided` }
  return verdictOf([...readWrongly(reading.value, plain), ...decidedWrongly(decision, plain, expected)])
}

/** A recorded invoice, read. */
export const judgeInvoice = (raw: unknown): Verdict => {
  const reading = readInvoice(raw)
  if (reading.kind === 'unrecognized') return { kind: 'not_understood', why: withoutIds(reading.why) }
  const { value } = reading
  const plain = plainInvoice(raw)
  if (plain.onlyALineNames !== null && value.subscriptionId === null)
    return { kind: 'not_understood', why: 'its subscription: only a line names it' }
  return verdictOf([
    ...differing('status', value.status, plain.status ?? value.status),
    ...differing('customer', value.customerId, plain.customerId),
    ...differing('subscription', value.subscriptionId, plain.subscriptionId),
    ...differing('amount due', value.amountDue, plain.amountDue),
    ...(value.amountRemaining < 0 ? ['less than nothing remains'] : []),
    ...(value.status === 'paid' && value.amountRemaining > 0 ? ['paid, and something remains'] : []),
    ...differing('created', value.createdAt, plain.createdAt),
  ])
}

const verdictOf = (wrong: string[]): Verdict =>
  wrong.length === 0 ? { kind: 'understood' } : { kind: 'misread', why: wrong.join('; ') }

const differing = (what: string, read: unknown, expected: unknown): string[] =>
  read === expected ? [] : [`${what}: ${String(read)} instead of ${String(expected)}`]

const readWrongly = (read: Subscription, plain: PlainSubscription): string[] => [
  ...differing('status', read.status, plain.status),
  ...differing('customer', read.customerId, plain.customerId),
  ...differing('items', read.items.length, plain.items.length),
  ...differing('trial end', read.trialEnd, plain.trialEnd),
  ...differing('end', read.endedAt, plain.endedAt),
  ...differing('pause', read.pause?.behavior ?? null, plain.paused),
  ...differing('scheduled end', read.cancelAt, plain.cancelAt),
  ...differing('ends with its period', read.cancelAtPeriodEnd, plain.cancelAtPeriodEnd),
  ...plain.items.flatMap((item, index) => [
    ...differing('price', read.items[index]?.priceId, item.priceId),
    ...differing('quantity', read.items[index]?.quantity, item.quantity),
    ...differing('period end', read.items[index]?.periodEnd, item.periodEnd),
  ]),
]

const decidedWrongly = (decision: Decision, plain: PlainSubscription, expected: Expected): string[] => {
  if (decision.kind === 'blocked') return [`blocked: ${decision.reason}`]
  const { entitlements } = decision
  const plans = entitlements.filter(({ feature }) => feature === '$plan')
  const seats = entitlements.filter(({ feature }) => feature === 'seats').map(({ value }) => value)
  const counted = plain.items.map(({ quantity }) => quantity).filter((quantity) => quantity !== null)
  // Nothing ever came of it, or nothing is left in it.
  const silent = plain.status === 'incomplete_expired' || plain.items.length === 0
  return [
    ...(silent ? differing('plans', plans.length, 0) : differing('plans', plans.length, plain.items.length)),
    ...(silent ? [] : differing('seats', seats.join(' '), counted.join(' '))),
    ...plans.flatMap(({ granted, state }) => [
      ...differing(`access while ${plain.status}`, granted, expected.granted),
      ...differing(`state while ${plain.status}`, state, expected.state),
    ]),
    ...(expected.granted && !plans.some(({ granted }) => granted) ? ['gives nothing'] : []),
    ...(expected.granted && decision.recheckAt === null ? ['is never looked at again'] : []),
  ]
}

const decideAlone = (read: Subscription, plain: PlainSubscription, catalog: Catalog): Decision =>
  decide({
    snapshot: {
      customerId: read.customerId,
      deleted: false,
      tenantId: null,
      clockAt: null,
      subscriptions: [remember({ previous: null, current: read, openInvoices: [], now: plain.moment })],
    },
    catalog,
    remembered: {},
    now: plain.moment,
    mode: 'live',
  })

const catalogOf = ({ items }: PlainSubscription): Catalog | null => {
  const parsed = parseCatalog(
    JSON.stringify({
      default: 'none',
      plans: {
        none: { rank: 0 },
        all: {
          rank: 1,
          prices: [...new Set(items.map(({ priceId }) => priceId))],
          features: { seats: { from: 'quantity' } },
        },
      },
    }),
  )
  return parsed.kind === 'catalog' ? parsed.catalog : null
}

/** Reasons name ids; told apart by them, each would stand alone. */
const withoutIds = (why: string): string => why.replaceAll(/\bitem [^:;]+:/g, 'item:')
