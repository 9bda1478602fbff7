// The frame of every event of a customer, with a key or without: first the link, then what the event does, then what a
// new link lets go on.
import type { WorkerContext } from '../context.ts'
import { recordLookup } from '../customers/queries.ts'
import type { Outcome } from '../outcome.ts'
import type { Transaction } from '../postgres/pool.ts'
import type { StripeReader } from '../stripe/read.ts'
import type { EventRow } from './attempt-queries.ts'
import { guarded } from './attempt.ts'
import type { Interpretation } from './interpret.ts'
import { linkFromEvent, type Linked } from './link.ts'
import { recordMoneyBack } from './other-effects.ts'
import { wakeStopped } from './wake.ts'

export type CustomerEvent = {
  event: EventRow
  meaning: Extract<Interpretation, { kind: 'reconcile' }>
  body: unknown
  customerId: string
}

/** Runs `work` where the customer is linked; else answers what the missing link means. `reader`: null in payload mode. */
export const forLinked = async (
  ctx: WorkerContext,
  tx: Transaction,
  { event, meaning, body, customerId }: CustomerEvent,
  reader: (() => StripeReader) | null,
  work: () => Promise<Outcome>,
): Promise<Outcome> => {
  const key = { account: event.account, customerId }
  const link: { done: Linked | null } = { done: null }
  const stopped = await guarded(ctx, tx, event, async (savepoint) => {
    link.done = await linkFromEvent(savepoint, event, customerId, meaning, reader)
    return link.done.kind === 'stop' ? link.done.outcome : null
  })
  if (link.done?.kind === 'stop' && link.done.lookup !== null)
    await recordLookup(tx, { ...key, ticket: link.done.lookup })
  // Recorded also where nobody is linked: a later read does not bring it back.
  if (stopped !== null) {
    if (stopped.kind === 'done') await recordMoneyBack(tx, event, body)
    return stopped
  }
  const recorded = await guarded(ctx, tx, event, async (savepoint) => {
    await recordMoneyBack(savepoint, event, body, reader)
    return null
  })
  if (recorded !== null) return recorded
  const outcome = await work()
  // After the work: the rows of other events must not be held while Stripe answers.
  if (link.done?.kind === 'linked')
    await wakeStopped(tx, ctx.queue, { ...key, reason: 'customer_not_linked', exceptEventId: event.event_id })
  return outcome
}
