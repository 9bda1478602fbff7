// One claimed job: event row -> interpret -> link -> reconcile -> settle, all in the transaction that holds the claim
// and the customer's lock. Everything that Stripe's answer decides happens inside a savepoint.
import { insertAudit } from '../audit/queries.ts'
import type { WorkerContext } from '../context.ts'
import { rememberCustomer } from '../customers/queries.ts'
import type { Evidence } from '../entitlements/evidence.ts'
import type { Reconciled } from '../entitlements/reconcile.ts'
import { idOf } from '../ids.ts'
import { eventJob } from '../jobs.ts'
import type { Outcome } from '../outcome.ts'
import type { Transaction } from '../postgres/pool.ts'
import type { Claim } from '../postgres/queue.ts'
import type { StripeAccount } from '../stripe/accounts.ts'
import { openReader, type StripeReader } from '../stripe/read.ts'
import { findClaimedEvent, type EventRow } from './attempt-queries.ts'
import { guarded } from './attempt.ts'
import { interpret } from './interpret.ts'
import { forLinked, type CustomerEvent } from './linked-event.ts'
import { fanOut, recordMoneyBack, resolveCustomer } from './other-effects.ts'
import { attemptFromPayload } from './payload.ts'
import { reconcileCustomer } from './reconcile-customer.ts'
import { ALERT_AT_ATTEMPT, settle, type Settled } from './settle.ts'
import { tellSettled } from './tell.ts'

export type Processed = { how: Settled | 'noop'; reason: string | null }

/** Runs a claimed event job to its settlement. The caller holds the lock of the job's group. */
export const processEvent = async (ctx: WorkerContext, tx: Transaction, claim: Claim): Promise<Processed> => {
  const startedAt = performance.now()
  const job = eventJob.safeParse(claim.data)
  const event = job.success ? await findClaimedEvent(tx, { ...job.data, jobId: claim.id }) : null
  if (event === null) {
    // Settled since, another epoch, another job, or sent by hand (pg-boss's dashboard): nothing to do.
    await ctx.queue.complete(tx, claim, { code: 'not_pending' })
    return { how: 'noop', reason: 'not_pending' }
  }
  if (event.attempts + 1 === ALERT_AT_ATTEMPT) {
    const { account, event_id, type } = event
    ctx.log.error(
      { account, event_id, type, attempts: ALERT_AT_ATTEMPT, alert: 'attempt_5' },
      'inbox.attempt',
    )
  }
  const outcome = await attempt(ctx, tx, event)
  const how = await settle(ctx, tx, { event, claim, claimed: true, startedAt: event.now }, outcome)
  const reason = 'reason' in outcome ? outcome.reason : null
  const waitedMs = event.now - event.received_at + (performance.now() - startedAt)
  tellSettled(ctx, event, { how, reason, latencyMs: outcome.kind === 'done' ? waitedMs : null })
  return { how, reason }
}

const attempt = async (ctx: WorkerContext, tx: Transaction, event: EventRow): Promise<Outcome> => {
  const account = ctx.accounts.named(event.account)
  if (account === null)
    return { kind: 'retry', reason: 'internal_error', error: 'account is not configured here' }
  const body = parse(event.payload)
  if (body === undefined)
    return { kind: 'permanent', reason: 'unrecognized_stripe_payload', error: 'the body is gone or not JSON' }
  const meaning = interpret({ type: event.type, body, customerId: event.customer_id })
  if (meaning.kind === 'ignore') return { kind: 'done', processed: 'ignored', reason: meaning.reason }
  if (meaning.kind === 'quarantine')
    return { kind: 'permanent', reason: meaning.reason, error: meaning.error }
  if (account.client === null) return attemptFromPayload(ctx, tx, event, meaning, body)
  switch (meaning.kind) {
    case 'resolve':
      return guarded(ctx, tx, event, (savepoint) =>
        resolveCustomer(savepoint, event, meaning, body, readerFor(ctx, account)),
      )
    case 'unresolvable':
      await recordMoneyBack(tx, event, body)
      return { kind: 'done', processed: 'no_change', reason: 'customer_unresolved' }
    case 'fan_out':
      return fanOut(ctx, tx, event, meaning)
    case 'reconcile':
      return event.customer_id === null
        ? { kind: 'permanent', reason: 'unrecognized_stripe_payload', error: 'no customer' }
        : forCustomer(ctx, tx, account, { event, meaning, body, customerId: event.customer_id })
  }
}

const forCustomer = (
  ctx: WorkerContext,
  tx: Transaction,
  account: StripeAccount,
  input: CustomerEvent,
): Promise<Outcome> => {
  const { event, meaning, customerId } = input
  const reader = readerFor(ctx, account)
  return forLinked(ctx, tx, input, reader, async () => {
    const task = {
      customer: await rememberCustomer(tx, { account: event.account, customerId }),
      evidence: evidenceOf(event, meaning),
      cause: event.event_id,
      eventId: event.event_id,
      openReader: reader,
    }
    return reconcileCustomer(ctx, tx, task, (savepoint, result) =>
      result.kind === 'blocked'
        ? blockedOutcome(result)
        : appliedOutcome(ctx, savepoint, event, meaning, result),
    )
  })
}

const blockedOutcome = ({ reason, error }: Extract<Reconciled, { kind: 'blocked' }>): Outcome =>
  reason === 'unmapped_stripe_price'
    ? { kind: 'deferred', reason, error }
    : { kind: 'permanent', reason, error }

const appliedOutcome = async (
  { metrics }: Pick<WorkerContext, 'metrics'>,
  tx: Transaction,
  event: EventRow,
  meaning: CustomerEvent['meaning'],
  result: Extract<Reconciled, { kind: 'reconciled' }>,
): Promise<Outcome> => {
  metrics.coverage(event.account, result.covered ? 'covered' : 'read')
  const processed = result.disagreements.length > 0 ? 'superseded' : result.changed ? 'applied' : 'no_change'
  const reason = processed === 'superseded' ? ('superseded_by_live_state' as const) : result.reason
  await insertAudit(tx, {
    account: event.account,
    eventId: event.event_id,
    epoch: event.epoch,
    customerId: event.customer_id,
    subscriptionId: meaning.topic === 'subscription' ? idOf(meaning.object) : null,
    kind: processed,
    reason,
    detail: { changed: result.changed, covered: result.covered, disagreements: result.disagreements },
  })
  return { kind: 'done', processed, reason }
}

const evidenceOf = (event: EventRow, { topic, object }: CustomerEvent['meaning']): Evidence => ({
  receivedSeq: event.received_seq,
  epoch: event.epoch,
  topic: topic === 'subscription' || topic === 'invoice' ? topic : 'other',
  object,
  subscriptionId: topic === 'subscription' ? idOf(object) : null,
  invoiceId: topic === 'invoice' ? idOf(object) : null,
})

// One read an attempt: its deadline starts when it is first needed.
const readerFor = (ctx: WorkerContext, account: StripeAccount): (() => StripeReader) => {
  let reader: StripeReader | null = null
  return () => (reader ??= openReader(account, ctx.budget, { stop: ctx.stop, now: ctx.now }))
}

const parse = (payload: string | null): unknown => {
  try {
    return payload === null ? undefined : JSON.parse(payload)
  } catch {
    return undefined
  }
}
