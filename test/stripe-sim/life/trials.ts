// Trials: made longer, and the warning before they end. What their end brings is in lifecycle.ts.

import type { SubState } from '../records.ts'
import { subscriptionWire } from '../wire/subscription.ts'
import type { World } from '../world.ts'

/** Stripe says three days before that a trial ends, or at once if it is shorter. */
export const TRIAL_WARNING = 3 * 86_400

export const warnOfTrialEnd = (world: World, sub: SubState): void => {
  sub.trialWillEndSent = true
  world.emit('customer.subscription.trial_will_end', subscriptionWire(world, sub))
}

export const extendTrial = (sub: SubState, end: number, now: number): void => {
  sub.status = 'trialing'
  sub.trialStart ??= now
  sub.trialEnd = end
  sub.anchor = end
  for (const item of sub.items) item.periodEnd = end
}
