// What Stripe does not tell (any more) takes nothing away: vanished objects, a changed key, an answer from the past.
import { expect, test } from 'vitest'
import { loggedLines } from '../harness/log-capture.ts'
import { hurry } from '../harness/time-travel.ts'
import { openWorld, signUp, until, type World } from '../harness/world.ts'

const body = async (world: World) => (await world.read('acme')).body
const findings = (world: World) =>
  world.query('select code, resolved_at is not null as resolved from goodstanding.findings order by 1')
const withTenant = async (world: World) => {
  const { id } = await signUp(world)
  await world.settle()
  return { subscription: id }
}

test('a subscription that Stripe does not know any more keeps its access, and a person is called', async () => {
  const world = await openWorld()
  const { subscription } = await withTenant(world)
  world.shop.updateSubscription(subscription, { quantity: 5 })
  world.shop.world.store.subscription.delete(subscription)

  await world.deliver()

  expect(await body(world)).toMatchObject({ plan: 'pro', seats: 2, active: true })
  expect(await findings(world)).toEqual([{ code: 'vanished_at_stripe', resolved: false }])
  expect(loggedLines('entitlements.vanished_at_stripe').at(-1)).toMatchObject({ alert: 'vanished_at_stripe' })
})

test('what vanished at Stripe is no reason to end access, however long it lasts', async () => {
  const world = await openWorld()
  const { subscription } = await withTenant(world)
  world.shop.updateSubscription(subscription, { quantity: 5 })
  world.shop.world.store.subscription.delete(subscription)
  await world.deliver()

  for (const looks of [2, 3]) {
    await world.advance(40 * 86_400_000)
    await world.query('update goodstanding.customers set recheck_queued_at = null')
    await until(`it was looked for ${looks} times`, async () => {
      const [row] = await world.query<{ seen: number }>('select seen from goodstanding.findings')
      return (row?.seen ?? 0) >= looks
    })
  }

  expect(await body(world)).toMatchObject({ plan: 'pro', seats: 2, active: true, stale: true })
})

test('where the key belongs to another account, nothing is taken away and the account pauses', async () => {
  const world = await openWorld()
  const { subscription } = await withTenant(world)
  await world.query("update goodstanding.accounts set stripe_account_id = 'acct_before'")
  world.shop.updateSubscription(subscription, { quantity: 5 })
  world.shop.world.store.subscription.delete(subscription)
  const event = world.shop.events().at(-1)?.id ?? ''

  await world.sim.delivery.flush()
  await until(
    'it is postponed',
    async () => (await world.event(event))['reason'] === 'stripe_account_changed',
  )

  expect(await world.query('select pause_cause from goodstanding.accounts')).toEqual([
    { pause_cause: 'stripe_account_changed' },
  ])
  expect(await body(world)).toMatchObject({ plan: 'pro', active: true })
})

test('an answer older than the event is applied, noted, and looked at again after 10 s', async () => {
  const world = await openWorld()
  const { subscription } = await withTenant(world)
  world.sim.faults.next({ path: /\/v1\/subscriptions/, times: 1, fault: { stale: true } })
  world.shop.cancel(subscription)

  await world.sim.delivery.flush()
  await until('it is noted', async () => (await findings(world)).length === 1)

  expect(await findings(world)).toEqual([{ code: 'stale_read_suspected', resolved: false }])
  await until('the second look has closed it', async () => {
    await hurry(world.query)
    return (
      JSON.stringify(await findings(world)) ===
      JSON.stringify([{ code: 'stale_read_suspected', resolved: true }])
    )
  })
  expect(await body(world)).toMatchObject({ plan: 'free', state: 'ended' })
})
