// Whole life cycles, driven by the official CLI's `fixtures`, delivered to the service out of order and twice: each
// tenant ends as the oracle says, and as written here by hand.
import { expect, test } from 'vitest'
import { openWorld } from '../harness/world.ts'
import { ACCOUNT } from '../harness/service.ts'
import { expectedEntitlements } from '../stripe-sim/oracle.ts'
import { hasCli } from './cli.ts'
import { runScenario, SCENARIO_CATALOG, SCENARIOS, tenantOf } from './scenarios.ts'

const ENDS: Record<string, [plan: string, state: string, seats: number | null]> = {
  'cancel-and-return': ['pro', 'active', 4],
  'cancel-at-period-end': ['free', 'ended', null],
  'card-declined-at-first': ['pro', 'active', 1],
  'checkout-by-card': ['pro', 'active', 5],
  'coupon-makes-it-free': ['pro', 'active', 7],
  'customer-deleted': ['free', 'ended', null],
  'invoice-by-mail-overdue': ['basic', 'grace', null],
  'renewal-fails': ['basic', 'grace', null],
  'schedule-upgrades': ['pro', 'active', 6],
  'trial-then-pays': ['pro', 'active', 3],
  'trial-without-card-pauses': ['free', 'suspended', null],
  'upgrade-and-seats': ['pro', 'active', 9],
}

test('every scenario has an end that was written by hand', () => {
  expect(Object.keys(ENDS)).toEqual(SCENARIOS)
})

test.runIf(hasCli)('after each scenario the tenant may use what the oracle says', async () => {
  const world = await openWorld({ catalog: SCENARIO_CATALOG })
  const shop = world.sim.account(ACCOUNT.name)
  const read = async (tenant: string) => {
    const { plan, active, state, seats } = (await world.read(tenant)).body
    return { plan, active, state, seats }
  }
  const expected = (tenant: string) => {
    const { plan, active, state, seats } = expectedEntitlements(
      shop,
      SCENARIO_CATALOG as never,
      tenant,
      world.sim.clock.now(),
    )
    return { plan, active, state, seats }
  }

  for (const [index, scenario] of SCENARIOS.entries()) {
    const target = { apiBase: world.sim.url, apiKey: ACCOUNT.apiKey }
    const { code, text } = await runScenario(target, scenario, world.sim.clock.now())
    expect([scenario, code, code === 0 ? '' : text]).toEqual([scenario, 0, ''])
    await world.deliver({ shuffle: index + 1, duplicates: 0.3 })

    const [plan, state, seats] = ENDS[scenario] ?? []
    expect([scenario, await read(tenantOf(scenario))]).toMatchObject([scenario, { plan, state, seats }])
  }

  // Everything once more, in another order: nothing changes.
  await world.sim.delivery.redeliver({ all: true, shuffle: 99 })
  await world.settle()
  for (const scenario of SCENARIOS) {
    expect([scenario, await read(tenantOf(scenario))]).toEqual([scenario, expected(tenantOf(scenario))])
  }
})
