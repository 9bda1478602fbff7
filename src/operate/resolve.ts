// `resolve`: for what a requeue would only quarantine again. Apply makes the event the accepted state, where nothing can
// be read (payload mode); with a key Stripe's own state is what counts, and a person ends the ambiguity there.
import { rememberCustomer } from '../customers/queries.ts'
import { reconcileFromPayload } from '../entitlements/payload-reconcile.ts'
import { markResolved } from '../inbox/attempt-queries.ts'
import { interpret } from '../inbox/interpret.ts'
import { wakeAfter } from '../inbox/payload.ts'
import { DEAD_QUEUE } from '../jobs.ts'
import type { Transaction } from '../postgres/pool.ts'
import { findCreatedAt, findPayload, type ShownEvent } from './events-queries.ts'
import { refuse, type Answer, type Parts, type Refusal, type Signed } from './parts.ts'
import { discardEvent, onDead, type Asked, type Done } from './recover.ts'

export type Resolve = Asked & { how: 'apply' | 'discard' }

export const resolveEvent = (
  parts: Parts,
  { how, ...asked }: Resolve,
  signed: Signed,
): Promise<Answer<Done>> =>
  how === 'discard'
    ? discardEvent(parts, asked, signed)
    : onDead(parts, asked, signed, {
        verb: 'resolve --apply',
        kind: 'applied',
        status: 'processed',
        act: (tx, event) => apply(parts, tx, event),
      })

const apply = async (parts: Parts, tx: Transaction, event: ShownEvent): Promise<boolean | Refusal> => {
  if (parts.accounts.named(event.account)?.client != null) return refuse('conflict', READ_INSTEAD)
  const { account, event_id: eventId, epoch, customer_id: customerId, type } = event
  const payload = await findPayload(tx, { account, eventId })
  if (payload === null || customerId === null)
    return refuse('conflict', `${eventId} names no customer, or its body is gone: it can only be discarded.`)
  const meaning = interpret({ type, body: JSON.parse(payload), customerId })
  const customer = await rememberCustomer(tx, { account, customerId })
  const { tenant_id: tenantId } = customer
  if (meaning.kind !== 'reconcile' || meaning.object === null)
    return refuse('conflict', `${eventId} says nothing that could be applied: it can only be discarded.`)
  if (tenantId === null)
    return refuse('conflict', `${customerId} belongs to no tenant: link it first; that revives the event.`)
  const result = await reconcileFromPayload(
    parts,
    tx,
    { account, customer: { ...customer, tenant_id: tenantId }, cause: `resolve:${eventId}`, accept: true },
    {
      type,
      isInvoice: meaning.topic === 'invoice',
      at: await findCreatedAt(tx, { account, eventId }),
      object: meaning.object,
    },
  )
  if (result.kind === 'stopped')
    return refuse('conflict', `It cannot be applied even so: ${result.reason} (${result.error}).`)
  await wakeAfter(parts, tx, { account, customerId, exceptEventId: eventId, result })
  const outcome = result.processed === 'no_change' ? 'no_change' : 'applied'
  if (!(await markResolved(tx, { account, eventId, epoch, outcome }))) return false
  if (event.job_id !== null) await parts.queue.remove(tx, DEAD_QUEUE, event.job_id)
  return true
}

const READ_INSTEAD =
  'This account has an API key, so what Stripe says now is what counts: end the ambiguity there (or by `link --replace`, or in the catalog), then requeue; or --discard.'
