// The routes of subscription schedules.

import {
  cancelSchedule,
  createSchedule,
  releaseSchedule,
  scheduleSubscription,
  updateSchedule,
} from '../life/schedules.ts'
import type { PhaseInput } from '../life/schedules.ts'
import { INTERVALS } from '../records.ts'
import { scheduleWire } from '../wire/schedule.ts'
import { need } from '../world.ts'
import type { World } from '../world.ts'
import { given, hash, hashes, int, metadataOf, str, word } from './form.ts'
import type { Params } from './form.ts'
import { page, retrieve } from './routing.ts'
import type { Route, RouteContext } from './routing.ts'

const ENDS = ['cancel', 'release'] as const

const phaseIn = (phase: Params): PhaseInput => {
  const duration = hash(phase, 'duration')
  return {
    items: hashes(phase, 'items').map((item) => ({
      price: str(item, 'price') ?? '',
      quantity: int(item, 'quantity') ?? 1,
    })),
    ...given({
      iterations: int(phase, 'iterations'),
      end: int(phase, 'end_date'),
      duration:
        duration === undefined
          ? undefined
          : {
              interval: word(duration, 'interval', INTERVALS) ?? 'month',
              count: int(duration, 'interval_count') ?? 1,
            },
    }),
  }
}

const newSchedule = ({ world, body }: RouteContext) => {
  const from = str(body, 'from_subscription')
  if (from !== undefined) {
    const sub = need(world, 'subscription', from, 'from_subscription')
    return scheduleWire(
      world,
      world.mutate(sub.customer, () => scheduleSubscription(world, sub)),
    )
  }
  const customer = str(body, 'customer') ?? ''
  const input = {
    customer,
    start:
      str(body, 'start_date') === 'now' ? ('now' as const) : (int(body, 'start_date') ?? world.now(customer)),
    phases: hashes(body, 'phases').map(phaseIn),
    ...given({ endBehavior: word(body, 'end_behavior', ENDS), metadata: metadataOf(body) }),
  }
  return scheduleWire(
    world,
    world.mutate(customer, () => createSchedule(world, input)),
  )
}

const changeSchedule = ({ world, ids: [id = ''], body }: RouteContext) => {
  const phases = hashes(body, 'phases')
  const patch = {
    ...given({ metadata: metadataOf(body), endBehavior: word(body, 'end_behavior', ENDS) }),
    ...(phases.length === 0 ? {} : { phases: phases.map(phaseIn) }),
  }
  return scheduleWire(world, updateSchedule(world, id, patch))
}

const after = ({ world, ids: [id = ''] }: RouteContext, verb: (world: World, id: string) => unknown) => {
  const schedule = need(world, 'schedule', id)
  world.mutate(schedule.customer, () => verb(world, id))
  return scheduleWire(world, schedule)
}

const listSchedules = (context: RouteContext) => {
  const { world, query } = context
  const customer = str(query, 'customer')
  const shown = [...world.store.schedule.values()].filter(
    (each) => (customer ?? each.customer) === each.customer,
  )
  return page(context, shown, (each) => scheduleWire(world, each))
}

export const scheduleRoutes: Route[] = [
  retrieve('/v1/subscription_schedules/:id', 'subscription_schedule'),
  ['GET', '/v1/subscription_schedules', listSchedules],
  ['POST', '/v1/subscription_schedules', newSchedule],
  ['POST', '/v1/subscription_schedules/:id', changeSchedule],
  ['POST', '/v1/subscription_schedules/:id/release', (c) => after(c, releaseSchedule)],
  ['POST', '/v1/subscription_schedules/:id/cancel', (c) => after(c, cancelSchedule)],
]
