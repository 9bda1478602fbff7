// Six months, day by day: Stripe's clock and ours go on together, the day's story happens, the post brings what it
// brings, and the service settles it.
import { setTimeout as sleep } from 'node:timers/promises'
import { until, type Query, type Service } from '../harness/service.ts'
import { hurry } from '../harness/time-travel.ts'
import type { Shop, StripeEvent, StripeSim } from '../stripe-sim/sim.ts'
import { LAST_DAY, LATER_MONTHS } from './later-months.ts'
import type { Tell } from './moments.ts'
import type { Pace } from './pace.ts'
import { customerOf, openPost, type Posting } from './post.ts'
import { FIRST_MONTHS, TENANTS, type Stage } from './stories.ts'
import { openWatch, type Watch } from './watch.ts'

export const DAY_MS = 86_400_000
const SEED = 7
const LOOK_EVERY_MS = 40

export type Parts = {
  sim: StripeSim
  service: Service
  query: Query
  account: string
  tell: Tell
  pace: Pace
}

/** Lives through all days; afterwards nothing is under way and nothing waits. */
export const liveThrough = async (parts: Parts): Promise<void> => {
  const { sim, service, query, account, tell, pace } = parts
  const shop = sim.account(account)
  const stage: Stage = {
    shop,
    known: new Map(),
    link: (tenant, customer) => linkByHost(service, shop, tenant, customer),
  }
  const post = openPost(SEED)
  const watch = openWatch(query, tell)
  const stories = new Map([...FIRST_MONTHS, ...LATER_MONTHS].map((story) => [story.day, story]))
  let seen = shop.events().length
  tell({ kind: 'began', start: sim.clock.now(), days: LAST_DAY, tenants: TENANTS })
  for (let day = 0; day <= LAST_DAY; day += 1) {
    await service.advance(day === 0 ? 0 : DAY_MS)
    tell({ kind: 'day', day })
    // What time alone has changed is true before anybody writes.
    await watch.look()
    const story = stories.get(day)
    if (story !== undefined) {
      tell({ kind: 'story', day, title: story.title })
      await pace.rest('story')
    }
    await story?.act(stage)
    // What time has made due: trials, renewals, retries, scheduled ends.
    shop.tick()
    const events = shop.events().slice(seen)
    seen += events.length
    const backwards = story?.backwards === true
    const postings = post.deliver({ day, events, backwards, last: day === LAST_DAY })
    for (const posting of postings) {
      await deliver(parts, { posting, tenant: tenantOf(stage, posting.event), day, watch })
      await pace.rest('delivery')
    }
    // A day has passed for what waits, but not for its job, which goes by the real clock.
    if (watch.open() > 0) await hurry(query)
    await settle(parts, watch)
    await pace.until(day / LAST_DAY)
  }
}

const linkByHost = async (service: Service, shop: Shop, tenant: string, customer: string) => {
  const status = await service.link(tenant, customer)
  if (status !== 200) throw new Error(`linking ${tenant} was answered with ${status}`)
  // The check must know what only we were told.
  shop.linkedByHost(customer, tenant)
}

const tenantOf = ({ known }: Stage, event: StripeEvent): string => {
  const customer = customerOf(event)
  return [...known].find(([, ids]) => ids.customer === customer)?.[0] ?? ''
}

type Trip = { posting: Posting; tenant: string; day: number; watch: Watch }

const deliver = async ({ sim, account, tell }: Parts, { posting, tenant, day, watch }: Trip) => {
  const { event, fate, trip, copy, daysLate, overtaken } = posting
  const about = { eventId: event.id, type: event.type, tenant }
  const status = fate === 'lost' ? null : (await sim.delivery.post(account, event)).status
  const redelivered = trip === 'redelivery'
  tell({ kind: 'tried', tried: { ...about, day, status, redelivered, doubled: copy, overtaken, daysLate } })
  if (status !== null) watch.expect(about)
  await watch.look()
}

const settle = async ({ service, query }: Parts, watch: Watch) => {
  let quiet = false
  const settled = allSettled(service, query).finally(() => {
    quiet = true
  })
  // Awaited below; meanwhile a failure is nobody's.
  settled.catch(() => {})
  while (!quiet) {
    await watch.look()
    await sleep(LOOK_EVERY_MS)
  }
  await settled
  await watch.look()
}

// A worker reads a customer again within a second after a period or a grace has ended. Our days are shorter than that.
const allSettled = async (service: Service, query: Query) => {
  await service.settle()
  await until('what has ended was read again', async () => {
    const [row] = await query<{ count: number }>(
      'select count(*)::int as count from goodstanding.entitlement_sources where stale',
    )
    return row?.count === 0
  })
  await service.settle()
}
