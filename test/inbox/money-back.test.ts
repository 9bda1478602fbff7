// Refunds and disputes are recorded as reported, whoever the customer belongs to; late reports take nothing back.
import { expect, test } from 'vitest'
import { anEvent } from '../harness/event.ts'
import { until } from '../harness/service.ts'
import { openWorld, signUp, type World } from '../harness/world.ts'

const REFUND = {
  id: 're_1',
  object: 'refund',
  charge: 'ch_1',
  amount: 5,
  currency: 'usd',
  created: 1_700_000_000,
}

const report = async (world: World, id: string, type: string, created: number, over: object) => {
  const event = anEvent({ id, type, created, data: { object: { ...REFUND, ...over } } })
  await world.sim.delivery.post('default', event as never)
  await until('it is settled', async () => (await world.event(id))['processed_at'] !== null)
}
const refunds = ({ query }: World) =>
  query('select refund_id, customer_id, status, amount from goodstanding.refunds')

test('a refund of a customer that belongs to nobody is recorded', async () => {
  const world = await openWorld()
  const { id: customer } = world.shop.customer()

  await report(world, 'evt_1', 'refund.created', 1_700_000_000, { customer, status: 'succeeded' })

  expect(await world.event('evt_1')).toMatchObject({ outcome: 'ignored', reason: 'no_tenant' })
  expect(await refunds(world)).toMatchObject([
    { refund_id: 're_1', customer_id: customer, status: 'succeeded' },
  ])
})

test.each([
  ['in order', ['created', 'updated']],
  ['the older one last', ['updated', 'created']],
])('reports that come %s leave the newest', async (_what, order) => {
  const world = await openWorld()
  const { customer } = await signUp(world)
  await world.settle()
  const reports = {
    created: () =>
      report(world, 'evt_created', 'refund.created', 1_700_000_000, { customer, status: 'pending' }),
    updated: () =>
      report(world, 'evt_updated', 'refund.updated', 1_700_000_100, { customer, status: 'succeeded' }),
  }

  for (const which of order) await reports[which as keyof typeof reports]()

  expect(await refunds(world)).toMatchObject([{ status: 'succeeded' }])
})
