// Whose customer it is, as an operator says it: link, unlink, and replace, each recorded, none by accident.
import { expect, test } from 'vitest'
import { cliOf, SIGNED } from '../harness/cli.ts'
import { runSweep } from '../harness/sweeps.ts'
import { ACCOUNT, openWorld, seatsOf, signUp, untilStopped, type World } from '../harness/world.ts'

const planOf = async (world: World, tenant: string) => (await world.read(tenant)).body['plan']
const nameless = async (world: World, quantity = 2) => {
  const { id } = world.shop.customer()
  world.shop.subscribe(id, { items: [{ price: 'price_pro', quantity }] })
  await world.sim.delivery.flush()
  await untilStopped(world, 'customer_not_linked')
  return id
}
const verbs = ({ query }: World) =>
  query<{ verb: string }>('select verb, target from goodstanding.operator_actions order by action_id')

test('a link wakes what waited for it; the same again changes nothing; another one is refused', async () => {
  const world = await openWorld()
  const cli = cliOf(world)
  const id = await nameless(world)
  expect((await cli('customers', 'list')).said).toMatch(new RegExp(`${id} +default`))

  expect(await cli('link', 'acme', id, '--dry-run')).toMatchObject({
    code: 0,
    problems: 'Dry run: nothing was written.',
  })
  expect((await cli('customers', 'list')).said).toContain(id)
  expect(await cli('link', 'acme', id, ...SIGNED)).toMatchObject({ code: 0, said: `${id} is acme (linked).` })
  await world.settle()
  expect(await seatsOf(world)).toBe(2)
  expect(await cli('link', 'acme', id, ...SIGNED)).toMatchObject({
    code: 0,
    said: `${id} is acme (unchanged).`,
  })
  expect(await cli('link', 'other', id, ...SIGNED)).toMatchObject({
    code: 6,
    problems: expect.stringContaining('ambiguous_customer_linkage') as string,
  })
  const other = world.shop.customer()
  expect((await cli('link', 'acme', other.id, ...SIGNED)).code).toBe(6)
  expect(await verbs(world)).toEqual([{ verb: 'link', target: 'acme' }])
})

test('unlink ends what the customer gave, and says so where it gave nothing', async () => {
  const world = await openWorld()
  const cli = cliOf(world)
  const { customer } = await signUp(world)
  await world.settle()

  expect((await cli('unlink', customer, ...SIGNED)).said).toContain('it was acme')
  expect(await planOf(world, 'acme')).toBe('free')
  expect((await cli('unlink', customer, ...SIGNED)).code).toBe(6)
  expect(
    await world.query(
      "select change, cause from goodstanding.entitlement_history where cause = 'unlink' and feature = 'seats'",
    ),
  ).toEqual([{ change: 'removed', cause: 'unlink' }])
  expect((await cli('link', 'acme', customer, ...SIGNED)).code).toBe(0)
  await world.settle()
  expect(await seatsOf(world)).toBe(2)
})

test('what an operator unlinked stays so, whatever the metadata at Stripe says, until a person links it', async () => {
  const world = await openWorld()
  const cli = cliOf(world)
  const { customer, id } = await signUp(world)
  await world.settle()
  await cli('unlink', customer, ...SIGNED)
  world.shop.updateSubscription(id, { quantity: 3, metadata: { tenant_id: 'acme' } })
  await world.sim.delivery.flush()
  await untilStopped(world, 'customer_not_linked')
  await runSweep(world, 'drift')

  expect(await planOf(world, 'acme')).toBe('free')
  expect((await cli('customers', 'list', '--unlinked')).said).toContain(customer)
  expect((await cli('link', 'acme', customer, ...SIGNED)).code).toBe(0)
  await world.settle()
  expect(await seatsOf(world)).toBe(3)
})

test('replace hands a customer over without a moment in which nobody has access', async () => {
  const world = await openWorld()
  const cli = cliOf(world)
  const { customer } = await signUp(world, 'wrong')
  await world.settle()
  await world.stopWorker()

  expect((await cli('link', 'right', customer, ...SIGNED)).code).toBe(6)
  expect((await cli('link', 'right', customer, '--replace', ...SIGNED)).said).toContain('(replaced)')
  // Before any worker has read anything.
  expect([await planOf(world, 'wrong'), await planOf(world, 'right')]).toEqual(['free', 'pro'])
})

test('replace takes a tenant from its old customer, whose rows go', async () => {
  const world = await openWorld()
  const cli = cliOf(world)
  const { customer: old } = await signUp(world, 'acme')
  await world.settle()
  const id = await nameless(world, 5)

  expect((await cli('link', 'acme', id, '--replace', ...SIGNED)).code).toBe(0)
  await world.settle()
  expect(await seatsOf(world)).toBe(5)
  expect((await cli('customer', 'show', old)).said).toContain('belongs to no tenant')
  expect(await verbs(world)).toEqual([{ verb: 'link --replace', target: 'acme' }])
})

test('where nothing can be read, link, unlink and link again decide from what events said', async () => {
  const world = await openWorld({ accounts: [ACCOUNT], keyless: ['default'] })
  const cli = cliOf(world)
  const { customer } = await signUp(world)
  await world.settle()
  expect(await seatsOf(world)).toBe(2)

  await cli('unlink', customer, ...SIGNED)
  expect(await planOf(world, 'acme')).toBe('free')
  await cli('link', 'acme', customer, ...SIGNED)
  await world.settle()
  expect(await seatsOf(world)).toBe(2)
})

test('a customer is read on request, and the answer comes when it was', async () => {
  const world = await openWorld()
  const cli = cliOf(world)
  const { id } = await signUp(world)
  await world.settle()
  world.shop.updateSubscription(id, { quantity: 8 })
  await world.sim.delivery.flush({ lose: 1 })

  expect((await cli('reconcile', 'acme', ...SIGNED)).said).toMatch(/: read\.\nacme: plan pro/)
  expect(await seatsOf(world)).toBe(8)
  await world.stopWorker()
  expect((await cli('reconcile', 'acme', '--wait', '0.2', ...SIGNED)).said).toContain('still under way')
  expect((await cli('reconcile', 'nobody', ...SIGNED)).code).toBe(5)
})
