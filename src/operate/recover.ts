// What operators do to one dead letter: look at it beside Stripe, give it another life, or close it. By compare-and-set,
// with name and reason; the second of two operators is told that somebody was faster.
import { insertAudit } from '../audit/queries.ts'
import { markResolved } from '../inbox/attempt-queries.ts'
import { revive } from '../inbox/wake.ts'
import { DEAD_QUEUE, groupOf } from '../jobs.ts'
import { lockGroup } from '../postgres/lock.ts'
import { rollBackWith, type Transaction } from '../postgres/pool.ts'
import { findShown, type ShownEvent } from './events-queries.ts'
import { answer, refuse, sign, type Answer, type Parts, type Refusal, type Signed } from './parts.ts'

export type Asked = {
  event: string
  account?: string | undefined
  /** Which life of it was looked at: another one is another decision. */
  epoch?: number | undefined
  /** What a person saw in Stripe, where we cannot look (payload mode). */
  checked?: string | undefined
}

export type Done = { event: string; account: string; status: 'pending' | 'processed'; epoch: number }

/** The event by its id; refused where there is none, or several accounts have one and none was named. */
export const oneEvent = async (
  { database }: Pick<Parts, 'database'>,
  { event: eventId, account }: Asked,
): Promise<ShownEvent | Refusal> => {
  const found = (await database.run((db) => findShown(db, eventId))).filter(
    (each) => account === undefined || each.account === account,
  )
  const [first] = found
  if (first === undefined) return refuse('not_found', `There is no event ${eventId}.`)
  if (found.length === 1) return first
  const names = found.map((each) => each.account).join(', ')
  return refuse('bad_request', `Several accounts have an event ${eventId}: name one of ${names}.`)
}

/** Dead -> pending in a new epoch with all its attempts; its job runs it at once. */
export const requeueEvent = (parts: Parts, asked: Asked, signed: Signed): Promise<Answer<Done>> =>
  onDead(parts, asked, signed, {
    verb: 'requeue',
    kind: 'revived',
    status: 'pending',
    act: (tx, { account, event_id: eventId, epoch, customer_id: customerId, job_id: jobId }) =>
      revive(tx, parts.queue, { account, eventId, epoch, customerId }, jobId),
  })

/** Dead -> processed, outcome `discarded_by_operator`: what it said is not applied. */
export const discardEvent = (parts: Parts, asked: Asked, signed: Signed): Promise<Answer<Done>> =>
  onDead(parts, asked, signed, {
    verb: 'resolve --discard',
    kind: 'discarded',
    status: 'processed',
    act: async (tx, { account, event_id: eventId, epoch, job_id: jobId }) => {
      const outcome = 'discarded_by_operator'
      if (!(await markResolved(tx, { account, eventId, epoch, outcome }))) return false
      if (jobId !== null) await parts.queue.remove(tx, DEAD_QUEUE, jobId)
      return true
    },
  })

export type How = {
  verb: string
  kind: 'revived' | 'discarded' | 'applied'
  status: Done['status']
  /** False where somebody else was faster. */
  act: (tx: Transaction, event: ShownEvent) => Promise<boolean | Refusal>
}

/** Does something to a dead letter, under its customer's lock, and records it. */
export const onDead = async (parts: Parts, asked: Asked, signed: Signed, how: How): Promise<Answer<Done>> => {
  const seen = await oneEvent(parts, asked)
  if ('kind' in seen) return seen
  const blind = blindly(parts, seen, asked)
  if (blind !== null) return blind
  return parts.database.transaction<Answer<Done>>(async (tx) => {
    await lockGroup(tx, groupOf(seen.account, seen.customer_id, seen.event_id))
    const event = (await findShown(tx, seen.event_id)).find(({ account }) => account === seen.account) ?? seen
    if (event.status !== 'dead' || event.epoch !== (asked.epoch ?? seen.epoch))
      return rollBackWith<Answer<Done>>(notDead(event))
    const did = await how.act(tx, event)
    if (did === false) return rollBackWith<Answer<Done>>(notDead(event))
    if (did !== true) return rollBackWith<Answer<Done>>(did)
    return answer(await record(tx, asked, signed, how, event))
  })
}

// Where nothing can be read, a person must have looked (rules.md section 8).
const blindly = ({ accounts }: Parts, { account }: ShownEvent, { checked }: Asked): Refusal | null =>
  accounts.named(account)?.client == null && checked === undefined
    ? refuse(
        'bad_request',
        `Account ${account} has no API key here: look the customer up in Stripe, and say what you saw by --checked.`,
      )
    : null

const notDead = ({ event_id: eventId, status, epoch }: ShownEvent): Refusal =>
  refuse(
    'conflict',
    `${eventId} is ${status} now, in its life ${epoch}: somebody was faster. Look at it again.`,
  )

const record = async (
  tx: Transaction,
  { checked }: Asked,
  signed: Signed,
  { verb, kind, status }: How,
  event: ShownEvent,
): Promise<Done> => {
  const { account, event_id: eventId, customer_id: customerId } = event
  const epoch = status === 'pending' ? event.epoch + 1 : event.epoch
  await insertAudit(tx, {
    account,
    eventId,
    epoch,
    customerId,
    subscriptionId: null,
    kind,
    reason: 'operator',
    detail: null,
  })
  await sign(tx, signed, {
    verb,
    target: `${account} ${eventId}`,
    before: { status: 'dead', reason: event.reason, epoch: event.epoch },
    after: { status, epoch, ...(checked !== undefined && { checked }) },
  })
  return { event: eventId, account, status, epoch }
}
