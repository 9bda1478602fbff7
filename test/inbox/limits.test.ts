// Much of something: a reason longer than its column, a lost job behind hundreds that wait.
import { expect, test } from 'vitest'
import { anEvent } from '../harness/event.ts'
import { until } from '../harness/service.ts'
import { openWorld } from '../harness/world.ts'
import { resendLost } from '../../src/inbox/sweep.ts'

test('twenty competing subscriptions are dead-lettered at once, by their own reason', async () => {
  const world = await openWorld()
  const customer = world.shop.customer({ metadata: { tenant_id: 'acme' } })
  for (let count = 0; count < 20; count += 1) {
    world.shop.subscribe(customer.id, { items: [{ price: 'price_pro', quantity: 2 }] })
  }
  const event = world.shop.events().findLast(({ type }) => type === 'customer.subscription.created')
  if (event === undefined) throw new Error('no event')

  await world.sim.delivery.post('default', event)
  await until('it is settled', async () => (await world.event(event.id))['dead_letter_at'] !== null)

  const row = await world.event(event.id)
  expect(row).toMatchObject({ outcome: 'permanent', reason: 'ambiguous_multi_subscription' })
  expect(row['last_error']).toMatch(/^sub_.{400,}…$/)
})

test('a lost job behind more than a page of waiting events is found', async () => {
  const world = await openWorld({ worker: false })
  for (let index = 0; index < 205; index += 1) {
    const object = { id: `cus_${index}`, object: 'customer' }
    const event = anEvent({ id: `evt_${index}`, type: 'customer.updated', data: { object } })
    await world.sim.delivery.post('default', event as never)
  }
  await world.query(
    "delete from pgboss.job where id = (select job_id from goodstanding.billing_events where event_id = 'evt_204')",
  )
  await world.query("update goodstanding.billing_events set received_at = received_at - interval '1 hour'")
  const { api: work, queue, log } = world.runtime.context

  expect((await resendLost({ work, queue, log }, 'default')).sent).toBe(1)
})
