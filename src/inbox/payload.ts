// One attempt at an event of an account without a key (payload mode): nothing is asked of Stripe, the event itself is
// the evidence. Link, effect and what it wakes, as in live mode; whatever cannot be judged ends visibly.
import { insertAudit } from '../audit/queries.ts'
import type { WorkerContext } from '../context.ts'
import { markDeleted, rememberCustomer } from '../customers/queries.ts'
import { roleOf } from '../entitlements/guard.ts'
import { reconcileFromPayload } from '../entitlements/payload-reconcile.ts'
import type { FromPayload } from '../entitlements/payload-write.ts'
import type { Outcome } from '../outcome.ts'
import type { Transaction } from '../postgres/pool.ts'
import type { EventRow } from './attempt-queries.ts'
import { guarded } from './attempt.ts'
import type { Interpretation } from './interpret.ts'
import { forLinked, type CustomerEvent } from './linked-event.ts'
import { recordMoneyBack } from './other-effects.ts'
import { wakeStopped } from './wake.ts'

type Meaning = Exclude<Interpretation, { kind: 'ignore' | 'quarantine' }>

/** What an understood event does without a read. */
export const attemptFromPayload = async (
  ctx: WorkerContext,
  tx: Transaction,
  event: EventRow,
  meaning: Meaning,
  body: unknown,
): Promise<Outcome> => {
  if (isThin(body) || (meaning.kind === 'reconcile' && meaning.object === null))
    return { kind: 'permanent', reason: 'thin_event_without_data', error: 'nothing can be read' }
  switch (meaning.kind) {
    case 'resolve':
    case 'unresolvable':
      await recordMoneyBack(tx, event, body)
      return { kind: 'done', processed: 'no_change', reason: 'customer_unresolved' }
    case 'fan_out':
      return { kind: 'done', processed: 'no_change', reason: null }
    case 'reconcile':
      return event.customer_id === null
        ? { kind: 'permanent', reason: 'unrecognized_stripe_payload', error: 'no customer' }
        : forCustomer(ctx, tx, { event, meaning, body, customerId: event.customer_id })
  }
}

const isThin = (body: unknown) =>
  typeof body === 'object' && body !== null && 'object' in body && body.object === 'v2.core.event'

const forCustomer = async (ctx: WorkerContext, tx: Transaction, input: CustomerEvent): Promise<Outcome> => {
  const { event, customerId } = input
  if (roleOf(event.type).kind === 'deletion') await markDeleted(tx, { account: event.account, customerId })
  return forLinked(ctx, tx, input, null, () =>
    guarded(ctx, tx, event, (savepoint) => effect(ctx, savepoint, input)),
  )
}

const effect = async (
  ctx: WorkerContext,
  tx: Transaction,
  { event, meaning, customerId }: CustomerEvent,
): Promise<Outcome> => {
  const key = { account: event.account, customerId }
  const customer = await rememberCustomer(tx, key)
  const { tenant_id: tenantId } = customer
  if (tenantId === null) return { kind: 'done', processed: 'ignored', reason: 'no_tenant' }
  const result = await reconcileFromPayload(
    ctx,
    tx,
    { account: event.account, customer: { ...customer, tenant_id: tenantId }, cause: event.event_id },
    {
      type: event.type,
      isInvoice: meaning.topic === 'invoice',
      at: event.stripe_created_at,
      object: meaning.object ?? {},
    },
  )
  if (result.kind === 'stopped') {
    const { how: kind, reason, error } = result
    return kind === 'deferred' ? { kind, reason, error } : { kind, reason, error }
  }
  await wakeAfter(ctx, tx, { ...key, exceptEventId: event.event_id, result })
  await insertAudit(tx, {
    account: event.account,
    eventId: event.event_id,
    epoch: event.epoch,
    customerId,
    subscriptionId: result.subscriptionId,
    kind: result.processed,
    reason: result.reason,
    detail: null,
  })
  return { kind: 'done', processed: result.processed, reason: result.reason }
}

/** What a settled event, or a decision made again, lets go on. */
export const wakeAfter = async (
  { queue }: Pick<WorkerContext, 'queue'>,
  tx: Transaction,
  input: {
    account: string
    customerId: string
    exceptEventId: string | null
    result: Extract<FromPayload, { kind: 'settled' }>
  },
): Promise<void> => {
  const { result, ...whom } = input
  if (result.appeared)
    await wakeStopped(tx, queue, { ...whom, reason: 'subscription_not_linked', revives: false })
  if (result.freed) await wakeStopped(tx, queue, { ...whom, reason: 'ambiguous_multi_subscription' })
}
