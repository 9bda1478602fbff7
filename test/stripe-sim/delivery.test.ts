// Signed delivery: verified by the SDK, refused, shuffled, doubled, lost, posted by hand.

import type { StripeEvent } from './sim.ts'
import { expect, test } from 'vitest'
import { client, main, receiver, start } from './testing.ts'

test('deliveries verify with the SDK, and a refused one stays pending until it is accepted', async () => {
  const sim = await start()
  const { bodies, url } = await receiver([500])
  sim.delivery.to('default', url)
  const event = sim.account('default').emit('customer.updated', { id: 'cus_1', object: 'customer' })

  expect(await sim.delivery.flush()).toMatchObject({ delivered: 0, failed: 1 })
  expect(event.pending_webhooks).toBe(1)
  expect(await sim.delivery.redeliver({ failedOnly: true })).toMatchObject({ delivered: 1 })
  expect(event.pending_webhooks).toBe(0)

  const last = bodies.at(-1)
  const read = client(sim).webhooks.constructEvent(
    last?.text ?? '',
    last?.signature ?? '',
    main.webhookSecret,
  )
  expect(read.id).toBe(event.id)
  expect(sim.delivery.log.map((row) => row.status)).toEqual([500, 200])
})

test('a flush can shuffle, double and lose, the same way for the same seed', async () => {
  const orders: string[][] = []
  for (const _ of [1, 2]) {
    const sim = await start()
    const { bodies, url } = await receiver()
    sim.delivery.to('default', url)
    sim.account('default').checkout({ items: [{ price: 'price_pro' }] })
    const stats = await sim.delivery.flush({ shuffle: 7, duplicates: 0.5, lose: 0.3 })
    expect(stats.lost).toBeGreaterThan(0)
    expect(stats.duplicated).toBeGreaterThan(0)
    expect((await sim.delivery.redeliver()).delivered).toBe(stats.lost)
    orders.push(bodies.map((body) => JSON.parse(body.text).id))
  }

  expect(orders[0]).toEqual(orders[1])
})

test('auto mode delivers by itself; a single event can be posted with a wrong secret', async () => {
  const sim = await start()
  const { bodies, url } = await receiver()
  sim.delivery.to('default', url, { types: ['customer.created'] })
  sim.delivery.mode = 'auto'
  sim.account('default').customer()
  await sim.delivery.settled()

  const [event] = sim.account('default').events().slice(-1)
  const sent = await sim.delivery.post('default', event as StripeEvent, { signWith: 'whsec_other' })

  expect(sent).toEqual({ status: 200, body: 'ok' })
  expect(bodies).toHaveLength(2)
  const { text = '', signature = '' } = bodies[1] ?? {}
  expect(() => client(sim).webhooks.constructEvent(text, signature, main.webhookSecret)).toThrow(/signature/)
})
