// What happens at a recheck end: Stripe is read, again only after a while, also for what is held; and whichever clock is
// ahead, nobody who pays is denied.
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CATALOG, until } from '../harness/service.ts'
import { openWorld, signUp, type World } from '../harness/world.ts'

const DAY_MS = 86_400_000

const reads = async ({ query }: World) =>
  (await query("select id from pgboss.job where name like 'customer.reconcile%' and state = 'completed'"))
    .length
const changeCatalog = ({ env }: World, catalog: object) =>
  writeFileSync(env['CATALOG_FILE'] ?? '', JSON.stringify(catalog))

test('what is held stays, though its period ends and every webhook is lost', async () => {
  const plans = (basic: string[]) => ({
    default: 'free',
    subscriptions: 'union',
    plans: {
      free: { rank: 0, features: {} },
      basic: { rank: 10, prices: basic, features: { export: true } },
      yearly: { rank: 20, prices: ['price_year'], features: { sso: true } },
    },
  })
  const world = await openWorld({ catalog: plans(['price_basic']) })
  const { shop, query } = world
  shop.price({ id: 'price_year', product: 'prod_year', interval: 'year' })
  const { id } = shop.customer({ metadata: { tenant_id: 'acme' } })
  for (const price of ['price_year', 'price_basic']) shop.subscribe(id, { items: [{ price }] })
  await world.deliver()
  changeCatalog(world, plans([]))
  const unmapped = () => query("select 1 from goodstanding.findings where code = 'unmapped_stripe_price'")
  await until('it is decided by the new catalog', async () => (await unmapped()).length > 0)
  const before = await reads(world)

  await world.advance(32 * DAY_MS)
  shop.tick()
  await until('Stripe was read at the end of the month', async () => (await reads(world)) > before)

  expect((await world.read('acme')).body['features']).toMatchObject({ export: {}, sso: {} })
})

test('an end that Stripe has not moved yet is looked at once, not every second', async () => {
  const world = await openWorld()
  await signUp(world)
  await world.settle()
  const before = await reads(world)

  await world.advance(32 * DAY_MS)
  await until('it is looked at', async () => (await reads(world)) > before)
  const queued = () => world.query('select recheck_queued_at from goodstanding.customers')
  const [first] = await queued()
  // The pass that looks for rechecks comes each second: give it the time of three.
  await new Promise((resolve) => setTimeout(resolve, 3_500))

  expect(await reads(world)).toBe(before + 1)
  expect(await queued()).toEqual([first])
  expect((await world.read('acme')).body['plan']).toBe('pro')

  // Ten minutes later it is looked at again.
  await world.query(
    "update goodstanding.customers set recheck_queued_at = recheck_queued_at - interval '11 minutes'",
  )
  await until('it is looked at again', async () => (await reads(world)) > before + 1)
})

test('how long an answer is borne follows the catalog, also for rows that are as they were', async () => {
  const world = await openWorld()
  await signUp(world)
  await world.settle()
  const graces = () =>
    world.query('select distinct stale_grace::text as grace from goodstanding.entitlements')
  expect(await graces()).toEqual([{ grace: '72:00:00' }])

  changeCatalog(world, { ...CATALOG, staleGraceHours: 1 })

  await until('the rows have it', async () => JSON.stringify(await graces()) === '[{"grace":"01:00:00"}]')
})

test('a database whose clock is two minutes behind denies nobody who has just paid', async () => {
  const world = await openWorld()
  await world.advance(0)
  await world.query('update goodstanding.clock_offset set seconds = seconds - 120')
  await signUp(world)
  await world.settle()

  expect((await world.read('acme')).body).toMatchObject({ plan: 'pro', active: true, state: 'active' })
})
