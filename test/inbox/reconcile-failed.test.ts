// Reads that no event asked for, where nothing can follow; and what Stripe's refusals mean for an attempt.
import { expect, test } from 'vitest'
import { settleOutage } from '../../src/inbox/outage.ts'
import { cliOf, SIGNED } from '../harness/cli.ts'
import { openWorld, signUp, until } from '../harness/world.ts'

const findings = (query: Awaited<ReturnType<typeof openWorld>>['query']) =>
  query(
    "select code, subject, resolved_at is null as open from goodstanding.findings where code = 'reconcile_failed'",
  )

test('a customer whom nothing can follow for becomes one finding, which the next read that works closes', async () => {
  const world = await openWorld()
  const { customer, id } = await signUp(world)
  await world.settle()
  world.shop.updateSubscription(id, { items: [{ price: 'price_unmapped' }] })
  await world.sim.delivery.flush({ lose: 1 })

  for (const _ of [1, 2]) await cliOf(world)('reconcile', 'acme', '--wait', '0', ...SIGNED)
  await until('it is a finding', async () => (await findings(world.query)).length === 1)
  expect(await findings(world.query)).toEqual([{ code: 'reconcile_failed', subject: customer, open: true }])
  expect((await world.read('acme')).body['plan']).toBe('pro')

  world.shop.updateSubscription(id, { items: [{ price: 'price_basic' }] })
  await world.sim.delivery.flush({ lose: 1 })
  await cliOf(world)('reconcile', 'acme', ...SIGNED)
  await until('it is closed', async () => (await findings(world.query)).every((row) => row['open'] === false))
  expect((await world.read('acme')).body['plan']).toBe('basic')
})

test.each([
  [{ kind: 'refused', detail: 'parameter_unknown' } as const, 'parameter_unknown'],
  [{ kind: 'missing' } as const, 'resource_missing'],
])(
  'what Stripe refuses (%j) counts as an attempt: asking again as before helps nobody',
  async (failure, error) => {
    const nothing = undefined as never

    expect(
      await settleOutage(nothing, nothing, { account: 'default', customerId: 'cus_1' }, failure),
    ).toEqual({
      kind: 'retry',
      reason: 'stripe_refused',
      error,
    })
  },
)
