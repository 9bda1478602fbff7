// The official CLI as deliverer: `stripe listen --all-snapshot` forwards to the service, `stripe trigger` makes things
// happen, `stripe events resend` repeats them. The tenants end as the oracle says.
import { onTestFinished, expect, test } from 'vitest'
import { openWorld, type World } from '../harness/world.ts'
import { ACCOUNT, until } from '../harness/service.ts'
import { expectedEntitlements } from '../stripe-sim/oracle.ts'
import { hasCli, runCli, startCli } from './cli.ts'
import { SCENARIO_CATALOG } from './scenarios.ts'

const target = (world: World) => ({ apiBase: world.sim.url, apiKey: ACCOUNT.apiKey })

const listen = async (world: World) => {
  const forward = ['--all-snapshot', '--forward-to', `${world.url}/webhooks/stripe/${ACCOUNT.name}`]
  const child = startCli(target(world), ['listen', ...forward])
  onTestFinished(() => void child.kill())
  await until('the CLI listens', () => world.sim.listeners.connected() === 1)
}

const TRIGGERS: [tenant: string, plan: string, trigger: string][] = [
  ['bought', 'pro', 'customer.subscription.created'],
  ['changed', 'basic', 'customer.subscription.updated'],
  ['left', 'pro', 'customer.subscription.deleted'],
  ['paused', 'pro', 'customer.subscription.paused'],
  ['trying', 'basic', 'customer.subscription.trial_will_end'],
  ['paying', 'pro', 'subscription.payment_succeeded'],
  ['declined', 'pro', 'subscription.payment_failed'],
]

test.runIf(hasCli)('listen delivers, resend repeats, and the tenants end as the oracle says', async () => {
  const world = await openWorld({ catalog: SCENARIO_CATALOG })
  const shop = world.sim.account(ACCOUNT.name)
  await listen(world)
  const unheard = shop.events().length

  for (const [tenant, plan, trigger] of TRIGGERS) {
    const mapped = [`customer:metadata[tenant_id]=${tenant}`, `price:lookup_key=goodstanding_${plan}`]
    const transfer = 'price:transfer_lookup_key=true'
    const { code, text } = await runCli(target(world), [
      'trigger',
      trigger,
      ...[...mapped, transfer].flatMap((add) => ['--add', add]),
    ])
    expect([trigger, code, code === 0 ? '' : text]).toEqual([trigger, 0, ''])
    // A lookup key that moves on takes what it named along only for those that come later.
    const sent = shop.events().length - unheard
    await until('all is forwarded', () => world.sim.listeners.answers().length === sent)
    await world.settle()
  }
  expect(new Set(world.sim.listeners.answers().map(({ status }) => status))).toEqual(new Set([200]))

  const bought = shop.events().filter(({ type }) => type.startsWith('customer.subscription.'))
  for (const { id } of bought.slice(0, 3)) {
    const before = world.sim.listeners.answers().length
    const row = await world.event(id)
    const { code, text } = await runCli(target(world), ['events', 'resend', id])
    expect([id, code, code === 0 ? '' : text]).toEqual([id, 0, ''])
    await until('it is forwarded again', () => world.sim.listeners.answers().length > before)
    await world.settle()
    // A copy of a settled event is acknowledged and changes nothing.
    expect([world.sim.listeners.answers().at(-1), await world.event(id)]).toMatchObject([
      { eventId: id, status: 200 },
      row,
    ])
  }

  const rows = await world.query('select event_id from goodstanding.billing_events')
  expect(rows).toHaveLength(shop.events().length - unheard)
  for (const [tenant] of TRIGGERS) {
    const { plan, state, seats } = expectedEntitlements(
      shop,
      SCENARIO_CATALOG as never,
      tenant,
      world.sim.clock.now(),
    )
    expect([tenant, (await world.read(tenant)).body]).toMatchObject([tenant, { plan, state, seats }])
  }
})
