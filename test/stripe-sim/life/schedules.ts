// Subscription schedules: phases that begin and end by the clock, each with items of its own.

import { invalid } from '../errors.ts'
import type { Interval, Metadata, PhaseState, ScheduleState, SubState } from '../records.ts'
import { put } from '../state.ts'
import { scheduleWire } from '../wire/schedule.ts'
import { changing, liveCustomer, need } from '../world.ts'
import type { World } from '../world.ts'
import { addInterval, priceNamed, replaceItems } from './items.ts'
import { cancelSubscription, changeSub, subscribe } from './subscriptions.ts'

const EXPIRY_WARNING = 7 * 86_400

export type PhaseInput = {
  items: { price: string; quantity: number }[]
  iterations?: number
  end?: number
  duration?: { interval: Interval; count: number }
}
export type ScheduleInput = {
  customer: string
  /** Seconds. */
  start: number | 'now'
  phases: PhaseInput[]
  endBehavior?: ScheduleState['endBehavior']
  metadata?: Metadata
}

export const createSchedule = (world: World, input: ScheduleInput): ScheduleState => {
  const customer = liveCustomer(world, input.customer)
  const now = world.now(customer.id)
  const start = input.start === 'now' ? now : input.start
  const schedule = put(world.store, 'schedule', {
    id: world.id('sub_sched'),
    created: now,
    customer: customer.id,
    status: 'not_started',
    endBehavior: input.endBehavior ?? 'release',
    phases: phasesFrom(world, start, input.phases),
    phase: 0,
    subscription: null,
    releasedSubscription: null,
    canceledAt: null,
    completedAt: null,
    releasedAt: null,
    expiringSent: false,
    metadata: { ...input.metadata },
  })
  world.emit('subscription_schedule.created', scheduleWire(world, schedule))
  if (start <= now) begin(world, schedule)
  return schedule
}

/** An existing subscription, from now on by schedule: its present period is the first phase. */
export const scheduleSubscription = (world: World, sub: SubState): ScheduleState => {
  if (sub.schedule !== null)
    throw invalid('This subscription is already managed by a schedule.', 'from_subscription')
  const [first] = sub.items
  const schedule = put(world.store, 'schedule', {
    id: world.id('sub_sched'),
    created: world.now(sub.customer),
    customer: sub.customer,
    status: 'active',
    endBehavior: 'release',
    phases: [
      {
        start: first?.periodStart ?? 0,
        end: first?.periodEnd ?? 0,
        items: sub.items.map(({ price, quantity }) => ({ price, quantity: quantity ?? 1 })),
      },
    ],
    phase: 0,
    subscription: sub.id,
    releasedSubscription: null,
    canceledAt: null,
    completedAt: null,
    releasedAt: null,
    expiringSent: false,
    metadata: {},
  })
  world.emit('subscription_schedule.created', scheduleWire(world, schedule))
  changeSub(world, sub, () => void (sub.schedule = schedule.id))
  return schedule
}

export const updateSchedule = (
  world: World,
  id: string,
  patch: { metadata?: Metadata; endBehavior?: ScheduleState['endBehavior']; phases?: PhaseInput[] },
): ScheduleState => {
  const schedule = live(world, id)
  changing(
    world,
    'subscription_schedule.updated',
    () => scheduleWire(world, schedule),
    () => {
      Object.assign(schedule.metadata, patch.metadata)
      if (patch.endBehavior !== undefined) schedule.endBehavior = patch.endBehavior
      const start = schedule.phases[0]?.start ?? world.now(schedule.customer)
      if (patch.phases !== undefined) schedule.phases = phasesFrom(world, start, patch.phases)
    },
  )
  return schedule
}

/** The subscription goes on without it. */
export const releaseSchedule = (world: World, id: string): ScheduleState => {
  const schedule = live(world, id)
  schedule.status = 'released'
  schedule.releasedAt = world.now(schedule.customer)
  letGo(world, schedule)
  world.emit('subscription_schedule.released', scheduleWire(world, schedule))
  return schedule
}

/** The subscription is canceled with it. */
export const cancelSchedule = (world: World, id: string): ScheduleState => {
  const schedule = live(world, id)
  schedule.status = 'canceled'
  schedule.canceledAt = world.now(schedule.customer)
  if (schedule.subscription !== null) cancelSubscription(world, schedule.subscription)
  world.emit('subscription_schedule.canceled', scheduleWire(world, schedule))
  return schedule
}

/** The next thing that time does to a schedule. */
export const dueSchedule = (
  world: World,
  schedule: ScheduleState,
): { at: number; run: () => void } | null => {
  const [first] = schedule.phases
  const last = schedule.phases.at(-1)
  if (first === undefined || last === undefined) return null
  if (schedule.status === 'not_started') return { at: first.start, run: () => begin(world, schedule) }
  if (schedule.status !== 'active') return null
  const warnAt = last.end - EXPIRY_WARNING
  const endAt = schedule.phases[schedule.phase]?.end ?? last.end
  if (!schedule.expiringSent && warnAt <= endAt) {
    return { at: Math.max(warnAt, first.start), run: () => warn(world, schedule) }
  }
  const next = schedule.phases[schedule.phase + 1]
  return {
    at: endAt,
    run: () => (next === undefined ? complete(world, schedule) : enter(world, schedule, next)),
  }
}

const begin = (world: World, schedule: ScheduleState): void => {
  const [first] = schedule.phases
  if (first === undefined) throw invalid('Missing required param: phases.', 'phases')
  const sub = subscribe(world, schedule.customer, { items: first.items, schedule: schedule.id })
  changing(
    world,
    'subscription_schedule.updated',
    () => scheduleWire(world, schedule),
    () => {
      schedule.status = 'active'
      schedule.subscription = sub.id
    },
  )
}

const enter = (world: World, schedule: ScheduleState, phase: PhaseState): void => {
  const sub = need(world, 'subscription', schedule.subscription ?? '')
  schedule.phase += 1
  changeSub(world, sub, () => replaceItems(world, sub, phase.items))
  world.emit('subscription_schedule.updated', scheduleWire(world, schedule))
}

const complete = (world: World, schedule: ScheduleState): void => {
  schedule.status = 'completed'
  schedule.completedAt = world.now(schedule.customer)
  if (schedule.endBehavior === 'release') letGo(world, schedule)
  else if (schedule.subscription !== null) cancelSubscription(world, schedule.subscription)
  world.emit('subscription_schedule.completed', scheduleWire(world, schedule))
}

const warn = (world: World, schedule: ScheduleState): void => {
  schedule.expiringSent = true
  world.emit('subscription_schedule.expiring', scheduleWire(world, schedule))
}

const letGo = (world: World, schedule: ScheduleState): void => {
  const sub = schedule.subscription === null ? undefined : world.store.subscription.get(schedule.subscription)
  schedule.releasedSubscription = schedule.subscription
  schedule.subscription = null
  if (sub !== undefined) changeSub(world, sub, () => void (sub.schedule = null))
}

const live = (world: World, id: string): ScheduleState => {
  const schedule = need(world, 'schedule', id)
  if (schedule.status === 'active' || schedule.status === 'not_started') return schedule
  throw invalid(`The schedule is ${schedule.status}: that cannot be done with it.`)
}

const phasesFrom = (world: World, start: number, inputs: PhaseInput[]): PhaseState[] => {
  let at = start
  return inputs.map(({ items, end, iterations = 1, duration }) => {
    const price = priceNamed(world, items[0]?.price ?? '')
    const span = duration ?? { interval: price.interval ?? 'month', count: price.intervalCount * iterations }
    const phase = { start: at, end: end ?? addInterval(at, span.interval, span.count), items }
    at = phase.end
    return phase
  })
}
