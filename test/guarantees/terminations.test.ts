// A database that keeps cutting every connection costs time, never an event: the process goes on by itself.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { hurry } from '../harness/time-travel.ts'
import { brokenPromises } from '../harness/cli.ts'
import { openWorld, pending, seatsOf, until } from '../harness/world.ts'
import { seededRng } from '../stripe-sim/sim.ts'

const CUTS = 25

test('all connections cut 25 times under load: nothing is lost, run twice or left waiting', async () => {
  const world = await openWorld()
  const random = seededRng(11)
  const subscriptions = Array.from({ length: 10 }, (_, index) => {
    const customer = world.shop.customer({ metadata: { tenant_id: `t${index}` } })
    return world.shop.subscribe(customer.id, { items: [{ price: 'price_pro', quantity: 1 }] }).id
  })
  await world.sim.delivery.flush()

  for (let cut = 1; cut <= CUTS; cut += 1) {
    for (const id of subscriptions.slice(0, 3)) world.shop.updateSubscription(id, { quantity: cut + 1 })
    const delivering = world.sim.delivery.flush({ concurrency: 4 })
    await sleep(random() * 200)
    await world.query(`
      select pg_terminate_backend(pid)
      from pg_stat_activity
      where application_name like 'goodstanding%' and datname = current_database()`)
    await delivering
  }
  await until('everything is delivered', async () => {
    await world.sim.delivery.redeliver()
    return world.sim.delivery.pending().every(({ state }) => state === 'delivered')
  })
  await until('everything is settled', async () => {
    await hurry(world.query)
    return (await pending(world)) === 0
  })

  expect([await seatsOf(world, 't0'), await seatsOf(world, 't9')]).toEqual([CUTS + 1, 1])
  const twice =
    "select event_id from goodstanding.event_attempts where outcome = 'done' group by 1 having count(*) > 1"
  expect(await world.query(twice)).toEqual([])
  expect(await brokenPromises(world)).toEqual([])
  expect(
    await world.query('select 1 from goodstanding.billing_events where dead_letter_at is not null'),
  ).toEqual([])
})
