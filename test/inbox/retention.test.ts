// Bodies of events that were settled long ago are forgotten; their rows stay, and what is open keeps its body.
import { expect, test } from 'vitest'
import { anEvent } from '../harness/event.ts'
import { runSweep } from '../harness/sweeps.ts'
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
const sweep = async (world: World) =>
  ((await runSweep(world, 'retention'))['result'] as { forgotten: number }).forgotten
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
