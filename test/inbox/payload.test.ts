// Accounts without a key: life cycles by their events alone, in any order, and what ends visibly because nobody can tell
// (rules.md, sections 4 and 5). The rules themselves are a table in test/entitlements/guard.test.ts.
import { expect, test } from 'vitest'
import { openWorld, seatsOf, signUp, until, type World } from '../harness/world.ts'

const DAY_MS = 86_400_000
const ORDERS = Array.from({ length: 5 }, (_, index) => index + 1)

const openKeyless = () => openWorld({ keyless: ['default'] })

/** Signs up, grows, renews, fails to pay. Nothing is delivered. */
const untilPaymentFails = async (world: World) => {
  const { shop } = world
  const customer = shop.customer({ metadata: { tenant_id: 'acme' } }).id
  const { id } = shop.subscribe(customer, { items: [{ price: 'price_pro', quantity: 2 }] })
  await world.advance(3 * DAY_MS)
  shop.updateSubscription(id, { quantity: 5 })
  await world.advance(28 * DAY_MS)
  shop.renew(id, { payment: 'paid' })
  await world.advance(30 * DAY_MS)
  shop.renew(id, { payment: 'fails' })
  await world.advance(DAY_MS)
  return { id, customer }
}

const payUp = async (world: World, customer: string) => {
  world.shop.payInvoice(world.shop.invoicesOf(customer).find(({ status }) => status === 'open')?.id ?? '')
  await world.advance(DAY_MS)
}

const factsOf = async (world: World) => {
  const { plan, active, state, seats, stale } = (await world.read('acme')).body
  return { plan, active, state, seats, stale }
}
const unsettled = (world: World) =>
  world.query<{ reason: string; dead: boolean }>(`
    select reason, dead_letter_at is not null as dead
    from goodstanding.billing_events
    where processed_at is null
    order by reason`)
const PAIR = [{ reason: 'ambiguous_subscription_order', dead: true }]

test.each(ORDERS)('order %i ends in the grace that began when the payment failed', async (seed) => {
  const world = await openKeyless()
  await untilPaymentFails(world)

  await world.deliver({ shuffle: seed, duplicates: 0.3 })

  expect(await factsOf(world)).toEqual({ plan: 'pro', active: true, state: 'grace', seats: 5, stale: false })
  const failed = world.shop.events().find(({ type }) => type === 'invoice.payment_failed')
  expect(
    await world.query(
      `select extract(epoch from unpaid_since)::bigint as since from goodstanding.subscriptions`,
    ),
  ).toEqual([{ since: String(failed?.created) }])
  // Renewed and past due within one second: one of the two was applied, whichever came first; the other is told.
  expect(await unsettled(world)).toEqual(PAIR)
  expect(world.sim.calls()).toEqual([])
})

test.each(ORDERS)(
  'order %i of a payment that came late ends in good standing, until it is over',
  async (seed) => {
    const world = await openKeyless()
    const { id, customer } = await untilPaymentFails(world)
    await payUp(world, customer)
    world.shop.updateSubscription(id, { cancelAtPeriodEnd: true })

    await world.deliver({ shuffle: seed, duplicates: 0.3 })

    expect(await factsOf(world)).toEqual({
      plan: 'pro',
      active: true,
      state: 'active',
      seats: 5,
      stale: false,
    })
    const dead = await unsettled(world)
    expect([[], PAIR]).toContainEqual(dead)

    world.shop.cancel(id)
    await world.deliver({ shuffle: seed, duplicates: 0.3 })
    expect(await factsOf(world)).toMatchObject({ plan: 'free', active: false, state: 'ended' })
    expect(await unsettled(world)).toEqual(dead)
  },
)

test('what comes late or twice is discarded where people can see it', async () => {
  const world = await openKeyless()
  const { id } = await signUp(world)
  await world.advance(DAY_MS)
  world.shop.updateSubscription(id, { quantity: 3 })
  const three = world.shop.events().at(-1)
  await world.advance(DAY_MS)
  world.shop.updateSubscription(id, { quantity: 4 })
  const four = world.shop.events().at(-1)
  if (three === undefined || four === undefined) throw new Error('nothing happened')

  await world.sim.delivery.post('default', four)
  await world.settle()
  await world.sim.delivery.post('default', three)
  await world.sim.delivery.post('default', four)
  await world.deliver()

  expect(await seatsOf(world)).toBe(4)
  expect(await world.event(three.id)).toMatchObject({
    outcome: 'discarded',
    reason: 'stale_subscription_event',
  })
  expect(await world.query('select event, reason, subscription from goodstanding.discards')).toEqual([
    { event: three.id, reason: 'stale_subscription_event', subscription: id },
  ])
})

test('grace is measured by what was told, not by when it was worked', async () => {
  const world = await openKeyless()
  const { id } = await signUp(world)
  await world.advance(31 * DAY_MS)
  world.shop.renew(id, { payment: 'fails' })
  await world.stopWorker()
  await world.sim.delivery.flush()
  await world.advance(8 * DAY_MS)

  await world.startWorker()
  await world.settle()

  // Past its end it is borne for staleGraceHours, as for those who were told in time.
  expect(await factsOf(world)).toMatchObject({ plan: 'pro', state: 'grace', stale: true })
  await world.advance(3 * DAY_MS)
  expect(await factsOf(world)).toMatchObject({ plan: 'free', active: false, state: 'suspended' })
})

test('a payment that is paid and one that fails within the same second: nobody can tell which was last', async () => {
  const world = await openKeyless()
  const { id, customer } = await signUp(world)
  await world.settle()
  await world.advance(DAY_MS)
  const invoice = { ...world.shop.invoicesOf(customer)[0], id: 'in_odd' }
  const paid = world.shop.emit('invoice.paid', { ...invoice, status: 'paid' })
  await world.deliver()
  const before = await world.query('select * from goodstanding.entitlements order by feature')

  const failed = world.shop.emit('invoice.payment_failed', { ...invoice, status: 'open' })
  await world.deliver()

  expect(await world.event(paid.id)).toMatchObject({ dead_letter_at: null })
  expect(await world.event(failed.id)).toMatchObject({
    outcome: 'permanent',
    reason: 'ambiguous_invoice_order',
    last_error: 'in_odd',
  })
  expect(await world.query('select * from goodstanding.entitlements order by feature')).toEqual(before)
  // One second later it is plain.
  await world.advance(1_000)
  world.shop.emit('invoice.payment_failed', { ...invoice, status: 'open' })
  await world.deliver()
  expect(await factsOf(world)).toMatchObject({ state: 'grace' })
  const earlier = { ...world.shop.subscription(id), status: 'active', cancel_at_period_end: true }
  world.shop.emit('customer.subscription.updated', earlier, { created: (paid.created ?? 0) - 60 })
  await world.deliver()
  expect(await factsOf(world)).toMatchObject({ state: 'grace' })
})

test('a second subscription is quarantined before anything is changed, and revived when the first has ended', async () => {
  const world = await openKeyless()
  const { id, customer } = await signUp(world)
  await world.settle()
  await world.advance(DAY_MS)
  const tables = () =>
    Promise.all(
      ['subscriptions', 'payload_reports', 'entitlements', 'tenants', 'entitlement_history'].map((table) =>
        world.query(`select * from goodstanding.${table} order by 1, 2, 3`),
      ),
    )
  const before = await tables()

  const second = world.shop.subscribe(customer, { items: [{ price: 'price_basic', quantity: 1 }] })
  await world.deliver()

  expect(await tables()).toEqual(before)
  expect((await unsettled(world)).map(({ reason }) => reason)).toEqual([
    'ambiguous_invoice_subscription',
    'ambiguous_multi_subscription',
  ])
  await world.advance(DAY_MS)
  world.shop.cancel(id)
  await world.deliver()
  await until('it is revived', async () => (await unsettled(world)).length === 1)
  expect(await factsOf(world)).toMatchObject({ plan: 'basic', state: 'active' })
  expect(
    await world.query('select status from goodstanding.subscriptions where subscription_id = $1', [
      second.id,
    ]),
  ).toEqual([{ status: 'active' }])
})
