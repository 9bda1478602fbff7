// Bodies of events that were settled long ago are forgotten; their rows stay, and what is open keeps its body.
import { expect, test } from 'vitest'
import { anEvent } from '../harness/event.ts'
import { until } from '../harness/service.ts'
import { openWorld, type World } from '../harness/world.ts'
import { postDelivery } from '../harness/post.ts'

const DAY_MS = 86_400_000

const bodies = async ({ query }: World) =>
  Object.fromEntries(
    (
      await query<{ event_id: string; kept: boolean }>(
        'select event_id, payload is not null as kept from goodstanding.billing_events order by 1',
      )
    ).map(({ event_id: id, kept }) => [id, kept]),
  )
const sweep = async (world: World) => {
  const find = () =>
    world.query<{ ended_at: Date | null; result: { forgotten: number } }>(
      "select ended_at, result from goodstanding.sweeps where name = 'retention'",
    )
  await until('the sweep is known', async () => (await find()).length === 1)
  const [before] = await find()
  await world.query("update goodstanding.sweeps set due_at = clock_timestamp() where name = 'retention'")
  await until(
    'it has run',
    async () => (await find())[0]?.ended_at?.getTime() !== before?.ended_at?.getTime(),
  )
  return (await find())[0]?.result.forgotten
}
const post = (world: World, id: string, type: string) =>
  postDelivery(
    world.url,
    JSON.stringify(anEvent({ id, type, data: { object: { id: 'cus_A', object: 'customer' } } })),
  )

test('ninety days after it was settled an event is without its body, and a copy of it is still known', async () => {
  const world = await openWorld()
  await post(world, 'evt_settled', 'customer.updated')
  await post(world, 'evt_ignored', 'plan.created')
  await post(world, 'evt_dead', '')
  await world.settle()
  await world.advance(89 * DAY_MS)
  expect(await sweep(world)).toBe(0)

  await world.advance(2 * DAY_MS)
  await post(world, 'evt_new', 'plan.created')
  expect(await sweep(world)).toBe(2)

  expect(await bodies(world)).toEqual({
    evt_dead: true,
    evt_ignored: false,
    evt_new: true,
    evt_settled: false,
  })
  expect((await post(world, 'evt_settled', 'customer.updated')).status).toBe(200)
  await world.settle()
  expect(await bodies(world)).toMatchObject({ evt_settled: false })
})
