// RULE: where what Stripe says of a subscription differs from what we last wrote of it, in something that decides access.
// Memory (since when money is owed) is ours alone and no part of it.
import { equal } from './diff.ts'
import type { Subscription } from './model.ts'

export type Drifted = 'unknown_subscription' | 'differs'

const DECISIVE = [
  'status',
  'cancelAt',
  'cancelAtPeriodEnd',
  'endedAt',
  'trialEnd',
  'pause',
  'customerId',
] as const satisfies (keyof Subscription)[]

/** Null where both agree. `items` false: Stripe listed only some of the items, so they are not compared. */
export const driftOf = (
  live: Subscription,
  stored: Subscription | null,
  { items }: { items: boolean },
): { kind: Drifted; fields: string[] } | null => {
  if (stored === null) return { kind: 'unknown_subscription', fields: [] }
  const fields: string[] = DECISIVE.filter((field) => !equal(live[field], stored[field]))
  if (items && !equal(linesOf(live), linesOf(stored))) fields.push('items')
  return fields.length === 0 ? null : { kind: 'differs', fields }
}

const linesOf = ({ items }: Subscription) =>
  items
    .map(({ id, priceId, quantity, periodEnd }) => ({ id, priceId, quantity, periodEnd }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
