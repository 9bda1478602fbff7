// Signed delivery: verified by the SDK, refused, shuffled, doubled, lost, posted by hand.

import { startStripeSim, type StripeEvent } from './sim.ts'
import { expect, test } from 'vitest'
import { client, main, old, receiver, start } from './testing.ts'

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

test('endpoints of their own versions get the same event in three shapes', async () => {
  const sim = await start()
  const versions = ['2024-06-20', '2025-02-24.acacia', '2025-09-30.clover']
  const heard = await Promise.all(versions.map(() => receiver()))
  for (const [index, apiVersion] of versions.entries())
    sim.delivery.to('default', heard[index]?.url ?? '', { apiVersion })
  sim.account('default').checkout({ items: [{ price: 'price_pro' }] })
  await sim.delivery.flush()

  const shapes = heard.map(({ bodies }) => {
    const events = bodies.map(({ text }) => JSON.parse(text) as StripeEvent)
    const { data, api_version: version } = events.find(
      ({ type }) => type === 'customer.subscription.created',
    ) as StripeEvent
    const items = data.object['items'] as { data: object[] }
    const invoice = events.find(({ type }) => type === 'invoice.paid')?.data.object ?? {}
    return [
      version,
      'current_period_end' in data.object,
      'current_period_end' in (items.data[0] ?? {}),
      'subscription' in invoice,
      'parent' in invoice,
    ]
  })

  expect(shapes).toEqual([
    ['2024-06-20', true, false, true, false],
    ['2025-02-24.acacia', true, true, true, true],
    ['2025-09-30.clover', false, true, false, true],
  ])
})

test('a platform hears of its connected account, which is named; nobody else does', async () => {
  const connected = { ...old, connectedTo: 'default' }
  const sim = await startStripeSim({ accounts: [main, connected] })
  const [own, platform] = [await receiver(), await receiver()]
  sim.delivery.to('default', own.url)
  sim.delivery.to('default', platform.url, { connect: true })
  sim.account('old').customer()
  await sim.delivery.flush()

  expect(own.bodies).toEqual([])
  expect(platform.bodies.map(({ text }) => (JSON.parse(text) as StripeEvent).account)).toEqual([old.id])
  await sim.close()
})

test('an endpoint made by the API is told its secret once, and an event can be sent to it again', async () => {
  const sim = await start()
  sim.delivery.mode = 'auto'
  const stripe = client(sim)
  const heard = await receiver()
  const endpoint = await stripe.webhookEndpoints.create({
    url: heard.url,
    enabled_events: ['customer.created'],
  })
  await stripe.customers.create({})
  await sim.delivery.settled()
  const [event] = sim.account('default').events().slice(-1)

  await stripe.rawRequest('POST', `/v1/events/${event?.id}/retry`, { webhook_endpoint: endpoint.id })
  await sim.delivery.settled()

  expect(heard.bodies).toHaveLength(2)
  const [first] = heard.bodies
  expect(
    stripe.webhooks.constructEvent(first?.text ?? '', first?.signature ?? '', endpoint.secret ?? '').id,
  ).toBe(event?.id)
  expect((await stripe.webhookEndpoints.retrieve(endpoint.id)).secret).toBeUndefined()
})
