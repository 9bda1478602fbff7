// What operators do to one dead letter: give it another life, or close it. By compare-and-set, with name and reason; the
// second of two operators is told that somebody was faster.
import { insertAudit, insertOperatorAction } from '../audit/queries.ts'
import type { Context } from '../context.ts'
import { DEAD_QUEUE, groupOf } from '../jobs.ts'
import { lockGroup } from '../postgres/lock.ts'
import { rollBackWith, type Database, type Transaction } from '../postgres/pool.ts'
import { markDiscarded } from './attempt-queries.ts'
import { findShown, type ShownEvent } from './operate-queries.ts'
import { revive } from './wake.ts'

export type Recovery =
  | { kind: 'done'; event: ShownEvent }
  | { kind: 'not_found' }
  | { kind: 'several'; accounts: string[] }
  /** It is not dead: as it is now. */
  | { kind: 'not_dead'; event: ShownEvent }

export type Asked = { eventId: string; account: string | null; operator: string; reason: string }
type Parts = Pick<Context, 'queue'> & { database: Database }

/** Dead -> pending in a new epoch with all its attempts; its job runs it at once. */
export const requeueEvent = (parts: Parts, asked: Asked): Promise<Recovery> =>
  onDead(parts, asked, 'requeue', async (tx, event) => {
    const { account, event_id: eventId, epoch, customer_id: customerId } = event
    return revive(tx, parts.queue, { account, eventId, epoch, customerId }, event.job_id)
  })

/** Dead -> processed, outcome `discarded_by_operator`: what it said is not applied. */
export const discardEvent = (parts: Parts, asked: Asked): Promise<Recovery> =>
  onDead(parts, asked, 'discard', async (tx, event) => {
    const { account, event_id: eventId, epoch } = event
    if (!(await markDiscarded(tx, { account, eventId, epoch }))) return false
    if (event.job_id !== null) await parts.queue.remove(tx, DEAD_QUEUE, event.job_id)
    return true
  })

const onDead = ({ database }: Parts, asked: Asked, verb: string, act: Act): Promise<Recovery> =>
  database.transaction<Recovery>(async (tx) => {
    const found = (await findShown(tx, asked.eventId)).filter(
      ({ account }) => asked.account === null || account === asked.account,
    )
    const [seen] = found
    if (seen === undefined) return rollBackWith<Recovery>({ kind: 'not_found' })
    if (found.length > 1)
      return rollBackWith<Recovery>({ kind: 'several', accounts: found.map(({ account }) => account) })
    await lockGroup(tx, groupOf(seen.account, seen.customer_id, seen.event_id))
    const event = (await findShown(tx, asked.eventId)).find(({ account }) => account === seen.account) ?? seen
    if (event.status !== 'dead' || !(await act(tx, event)))
      return rollBackWith<Recovery>({ kind: 'not_dead', event })
    await record(tx, asked, verb, event)
    return { kind: 'done', event }
  })

type Act = (tx: Transaction, event: ShownEvent) => Promise<boolean>

const record = async (tx: Transaction, { operator, reason }: Asked, verb: string, event: ShownEvent) => {
  const { account, event_id: eventId, epoch, customer_id: customerId } = event
  await insertAudit(tx, {
    account,
    eventId,
    epoch: verb === 'requeue' ? epoch + 1 : epoch,
    customerId,
    subscriptionId: null,
    kind: verb === 'requeue' ? 'revived' : 'discarded',
    reason: 'operator',
    detail: null,
  })
  await insertOperatorAction(tx, {
    operator,
    reason,
    verb,
    target: `${account} ${eventId}`,
    before: { status: 'dead', reason: event.reason, epoch },
    after: verb === 'requeue' ? { status: 'pending', epoch: epoch + 1 } : { status: 'processed', epoch },
  })
}
