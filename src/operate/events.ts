// What an operator sees of the inbox: events, dead letters and their groups, and one event beside what Stripe says now.
import { preview } from '../entitlements/assess.ts'
import type { Subscription } from '../entitlements/model.ts'
import { loadSubscriptions } from '../entitlements/subscription-queries.ts'
import { REASONS } from '../reasons.ts'
import { toldOf, unreadable } from './explain.ts'
import {
  attemptsOf,
  groupDead,
  listEvents,
  trailOf,
  type EventFilter,
  type ShownEvent,
} from './events-queries.ts'
import { answer, readerOf, type Answer, type Parts } from './parts.ts'
import { oneEvent, type Asked } from './recover.ts'

/** An event as programs get it: without its job, with what to do about its reason. */
export type PublicEvent = Omit<ShownEvent, 'job_id'> & { todo: string | null }

const publicly = ({ job_id: _job, ...event }: ShownEvent): PublicEvent => ({ ...event, todo: todoOf(event) })

const todoOf = ({ reason, status }: { reason: string | null; status: string }): string | null =>
  status !== 'processed' && reason !== null && reason in REASONS
    ? REASONS[reason as keyof typeof REASONS].todo
    : null

/** Events that match, newest first. */
export const events = async (parts: Parts, filter: EventFilter): Promise<Answer<PublicEvent[]>> =>
  answer((await parts.database.run((db) => listEvents(db, filter))).map(publicly))

export type DeadGroup = Awaited<ReturnType<typeof groupDead>>[number] & { todo: string | null }

/** Dead letters by what they died of. */
export const deadGroups = async (parts: Parts): Promise<Answer<DeadGroup[]>> =>
  answer(
    (await parts.database.run(groupDead)).map((group) => ({
      ...group,
      todo: todoOf({ ...group, status: 'dead' }),
    })),
  )

export type EventFacts = {
  event: PublicEvent
  attempts: Awaited<ReturnType<typeof attemptsOf>>
  trail: Awaited<ReturnType<typeof trailOf>>
}

/** One event with all its attempts of all its lives, without its body. */
export const eventShow = async (parts: Parts, asked: Asked): Promise<Answer<EventFacts>> => {
  const event = await oneEvent(parts, asked)
  if ('kind' in event) return event
  return answer(await factsOf(parts, event))
}

const factsOf = (parts: Parts, event: ShownEvent): Promise<EventFacts> =>
  parts.database.run(async (db) => {
    const key = { account: event.account, eventId: event.event_id }
    return { event: publicly(event), attempts: await attemptsOf(db, key), trail: await trailOf(db, key) }
  })

export type BesideStripe = EventFacts & {
  /** As last read or reported. */
  stored: Subscription[]
  stripe:
    | { kind: 'live'; subscriptions: readonly Subscription[]; deleted: boolean; would: string }
    | { kind: 'none'; why: string }
}

/** A dead letter beside what is stored and what Stripe says now, with what a requeue would change. */
export const deadShow = async (parts: Parts, asked: Asked): Promise<Answer<BesideStripe>> => {
  const event = await oneEvent(parts, asked)
  if ('kind' in event) return event
  const facts = await factsOf(parts, event)
  const { account, customer_id: customerId } = event
  if (customerId === null)
    return answer({ ...facts, stored: [], stripe: { kind: 'none', why: 'the event names no customer' } })
  const key = { account, customerId }
  const stored = await parts.database.run((db) => loadSubscriptions(db, key))
  return answer({ ...facts, stored, stripe: await lookAt(parts, key) })
}

const lookAt = async (
  parts: Parts,
  key: { account: string; customerId: string },
): Promise<BesideStripe['stripe']> => {
  const reader = readerOf(parts, key.account)
  if (reader === null) return { kind: 'none', why: `account ${key.account} has no API key here` }
  try {
    const seen = await preview(parts, parts.database, { key, reader })
    if (seen.kind === 'blocked')
      return { kind: 'none', why: `nothing can follow from what Stripe says: ${seen.reason} (${seen.error})` }
    if (seen.kind === 'vanished')
      return { kind: 'none', why: `Stripe does not know ${seen.subscriptionIds.join(', ')} any more` }
    const { live: subscriptions, deleted, outlook, changes } = seen
    return { kind: 'live', subscriptions, deleted, would: changes ? toldOf(outlook) : 'nothing would change' }
  } catch (error) {
    return { kind: 'none', why: unreadable(error) }
  }
}
