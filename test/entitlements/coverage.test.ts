// Ten events of one customer cost one or two reads, and each is still looked at by itself.
import { expect, test } from 'vitest'
import { openWorld, type World } from '../harness/world.ts'

const lists = (world: World) => world.sim.calls({ path: /^\/v1\/subscriptions$/, method: 'GET' }).length

// Ten changes of one subscription that arrive together.
const burst = async (world: World) => {
  const customer = world.shop.customer({ metadata: { tenant_id: 'acme' } })
  const { id } = world.shop.subscribe(customer.id, { items: [{ price: 'price_pro', quantity: 1 }] })
  await world.startWorker()
  await world.deliver()
  await world.stopWorker()
  const before = lists(world)
  for (let quantity = 2; quantity <= 11; quantity += 1) world.shop.updateSubscription(id, { quantity })
  await world.sim.delivery.flush({ shuffle: 4, concurrency: 10 })
  return { customer, id, before }
}

test('a burst of ten events of one customer costs at most two list calls', async () => {
  const world = await openWorld({ worker: false })
  const { before } = await burst(world)

  await world.startWorker()
  await world.settle()

  expect(lists(world) - before).toBeLessThanOrEqual(2)
  expect((await world.read('acme')).body['seats']).toBe(11)
  const rows = await world.query(`
    select outcome, count(*)::int from goodstanding.billing_events
    where payload::jsonb #>> '{data,previous_attributes,quantity}' is not null group by 1 order by 1`)
  // Only the newest payload agrees with Stripe; it changed nothing any more, unless it came first.
  expect(rows).toEqual([
    { outcome: expect.stringMatching(/^(applied|no_change)$/), count: 1 },
    { outcome: 'superseded', count: 9 },
  ])
})

test('a covered event still records its invoice', async () => {
  const world = await openWorld({ worker: false })
  const { id } = await burst(world)
  world.shop.renew(id, { payment: 'paid' })
  await world.sim.delivery.flush({ shuffle: 2, concurrency: 10 })

  await world.startWorker()
  await world.settle()

  const paid = world.shop
    .events()
    .filter(({ type }) => type === 'invoice.paid')
    .map(({ data }) => (data.object as { id: string }).id)
  const stored = await world.query<{ invoice_id: string; status: string }>(
    'select invoice_id, status from goodstanding.invoices order by 1',
  )
  expect(stored).toEqual(paid.toSorted().map((invoice_id) => ({ invoice_id, status: 'paid' })))
})

test.each([
  [
    'the event is of a later epoch',
    'update goodstanding.billing_events set epoch = 2; update pgboss.job set data = data || \'{"epoch": 2}\'',
  ],
  ['another catalog decided', "update goodstanding.customers set catalog_hash = 'another'"],
  [
    'a stale read is suspected',
    "insert into goodstanding.findings (code, account, subject) select 'stale_read_suspected', account, customer_id from goodstanding.customers",
  ],
])('nothing is covered where %s', async (_what, statement) => {
  const world = await openWorld({ worker: false })
  const { before } = await burst(world)
  // As if all ten had been received before the last read.
  await world.query("update goodstanding.customers set read_ticket = nextval('goodstanding.ticket')")
  await world.query(statement)

  await world.startWorker()
  await world.settle()

  expect(lists(world) - before).toBeGreaterThan(0)
})

test('all are covered where the last read began after they were received', async () => {
  const world = await openWorld({ worker: false })
  const { before } = await burst(world)
  await world.query("update goodstanding.customers set read_ticket = nextval('goodstanding.ticket')")

  await world.startWorker()
  await world.settle()

  expect(lists(world) - before).toBe(0)
})
