// What people decide beside Stripe: grants and denials that no webhook can wipe, and a hold under which nobody loses
// access, neither by what is read nor by an end that passes.
import { expect, test } from 'vitest'
import { cliOf, SIGNED } from '../harness/cli.ts'
import { runSweep } from '../harness/sweeps.ts'
import { ACCOUNT, openWorld, signUp, type World } from '../harness/world.ts'

const DAY_MS = 86_400_000
const at = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()
const planOf = async (world: World, tenant = 'acme') => (await world.read(tenant)).body['plan']
const featuresOf = async (world: World, tenant = 'acme') =>
  Object.keys((await world.read(tenant)).body['features'] as object).toSorted()

test('a grant needs an end or an explicit for ever, is shown as by hand, and ends when it is revoked', async () => {
  const world = await openWorld()
  const cli = cliOf(world)

  expect((await cli('grant', 'add', 'acme', 'sso', ...SIGNED)).code).toBe(2)
  expect((await cli('grant', 'add', 'acme', 'sso', '--until', at(-1), ...SIGNED)).problems).toContain(
    'is over already',
  )
  expect((await cli('grant', 'add', 'acme', 'sso', '--permanent', ...SIGNED)).code).toBe(0)
  expect((await cli('grant', 'add', 'acme', 'seats', '--value', '5', '--until', at(1), ...SIGNED)).code).toBe(
    0,
  )
  const { features } = (await world.read('acme')).body as {
    features: Record<string, { value: unknown; source: string }>
  }
  expect([features['sso'], features['seats']]).toMatchObject([
    { value: true, source: 'manual' },
    { value: 5, source: 'manual' },
  ])

  await world.advance(2 * DAY_MS)
  expect(await featuresOf(world)).toEqual(['sso'])
  expect((await cli('grant', 'revoke', '1', ...SIGNED)).code).toBe(0)
  expect((await cli('grant', 'revoke', '1', ...SIGNED)).code).toBe(6)
  expect(await featuresOf(world)).toEqual([])
  expect((await cli('grant', 'list', '--all', '--tenant', 'acme')).said).toMatch(/over[^]*revoked/)
})

test('a denial comes before everything that Stripe says', async () => {
  const world = await openWorld()
  await signUp(world)
  await world.settle()

  await cliOf(world)('grant', 'add', 'acme', 'sso', '--deny', '--permanent', ...SIGNED)
  expect(await featuresOf(world)).toEqual(['export', 'seats'])
})

test.each([
  ['with a key', []],
  ['from payloads', ['default']],
])(
  'under a hold of revocations what is read takes nothing away; after it everything is followed (%s)',
  async (_, keyless) => {
    const world = await openWorld({ accounts: [ACCOUNT], keyless })
    const cli = cliOf(world)
    const { id } = await signUp(world)
    await world.settle()
    expect((await cli('hold', 'revocations', '--until', at(1), ...SIGNED)).code).toBe(0)

    world.shop.cancel(id)
    await world.deliver()
    expect(await planOf(world)).toBe('pro')
    const { body } = await world.read('acme')
    expect(body['revocations_held_until']).not.toBeNull()
    expect(await cli('status')).toMatchObject({
      code: 3,
      said: expect.stringMatching(/revocations are held until/) as string,
    })
    expect((await cli('why', 'acme', 'sso')).said).toContain('Revocations are held until')
    expect((await cli('findings', 'list')).said).toContain('revocation_held')

    expect((await cli('hold', 'end', ...SIGNED)).code).toBe(0)
    expect((await cli('hold', 'end', ...SIGNED)).code).toBe(6)
    await runSweep(world, 'ends')
    await world.settle()
    expect(await planOf(world)).toBe('free')
    expect((await cli('findings', 'list')).said).toBe('No findings.')
  },
)

test('a hold grants nothing new, and gives nothing back that had ended before', async () => {
  const world = await openWorld()
  const cli = cliOf(world)
  const gone = await signUp(world, 'gone')
  await world.settle()
  world.shop.cancel(gone.id)
  await world.deliver()
  await cli('hold', 'revocations', '--until', at(1), ...SIGNED)

  expect(await planOf(world, 'gone')).toBe('free')
  await signUp(world, 'fresh')
  await world.settle()
  expect(await planOf(world, 'fresh')).toBe('pro')
})

test('under a hold a downgrade that is also an upgrade keeps what would be lost and gives what is new', async () => {
  const world = await openWorld()
  const { id } = await signUp(world)
  await world.settle()
  await cliOf(world)('hold', 'revocations', '--until', at(1), ...SIGNED)
  world.shop.updateSubscription(id, { items: [{ price: 'price_pro', quantity: 7 }] })
  await world.deliver()
  expect((await world.read('acme')).body['seats']).toBe(7)
  world.shop.updateSubscription(id, { items: [{ price: 'price_basic', quantity: 7 }] })
  await world.deliver()

  expect(await planOf(world)).toBe('pro')
  expect(await featuresOf(world)).toEqual(['export', 'seats', 'sso'])
})

test('an end that passes under a hold is not applied until the hold is over', async () => {
  const world = await openWorld()
  const cli = cliOf(world)
  const { id } = await signUp(world)
  await world.settle()
  world.shop.updateSubscription(id, { cancelAt: Date.now() + 3_600_000 })
  await world.deliver()
  await cli('hold', 'revocations', '--until', at(3), ...SIGNED)
  await world.stopWorker()

  await world.advance(2 * DAY_MS)
  expect(await planOf(world)).toBe('pro')
  const { features } = (await world.read('acme')).body as { features: Record<string, { until_kind: string }> }
  expect(features['sso']?.until_kind).toBe('held')
  await world.advance(2 * DAY_MS)
  expect(await planOf(world)).toBe('free')
})

test('an end that had passed before the hold, and that no sweep has recorded yet, stays passed', async () => {
  const world = await openWorld()
  const { id } = await signUp(world)
  await world.settle()
  world.shop.updateSubscription(id, { cancelAt: Date.now() + 3_600_000 })
  await world.deliver()
  await world.stopWorker()
  await world.advance(2 * 3_600_000)
  expect(await planOf(world)).toBe('free')

  await cliOf(world)('hold', 'revocations', '--until', at(3), ...SIGNED)
  expect(await planOf(world)).toBe('free')
})

test('a second hold moves the end of the first, and one account may be held alone', async () => {
  const world = await openWorld()
  const cli = cliOf(world)
  await cli('hold', 'revocations', '--until', at(1), ...SIGNED)
  await cli('hold', 'revocations', '--until', at(2), ...SIGNED)
  await cli('hold', 'revocations', '--until', at(1), '--account', 'default', ...SIGNED)

  expect(await world.query('select account from goodstanding.revocation_holds order by hold_id')).toEqual([
    { account: null },
    { account: 'default' },
  ])
  expect((await cli('hold', 'revocations', '--until', at(1), '--account', 'nobody', ...SIGNED)).code).toBe(5)
})

test('an end that passes is recorded in the history, when it passed and by what', async () => {
  const world = await openWorld()
  const { id } = await signUp(world)
  await world.settle()
  const end = Math.floor(Date.now() / 1_000) * 1_000 + 3_600_000
  world.shop.updateSubscription(id, { cancelAt: end })
  await world.deliver()
  const { revision } = (await world.read('acme')).body as { revision: number }

  await world.advance(2 * 3_600_000)
  await world.sim.delivery.flush({ lose: 1 })
  expect(await planOf(world)).toBe('free')
  expect((await runSweep(world, 'ends'))['result']).toMatchObject({ recorded: 1 })

  const history = await world.query<{ valid_from: Date; state: string }>(
    `select valid_from, after ->> 'state' as state from goodstanding.entitlement_history
     where cause = 'time' and feature = 'seats'`,
  )
  expect(history).toMatchObject([{ state: 'ended' }])
  expect(history[0]?.valid_from.getTime()).toBe(end)
  expect((await world.read('acme')).body['revision']).toBe(revision + 1)
  expect((await runSweep(world, 'ends'))['result']).toMatchObject({ recorded: 0 })
})
