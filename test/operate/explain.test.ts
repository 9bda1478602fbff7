// Support's way: why X has no access, and what happened to it, by the real commands against a real world.
import { expect, test } from 'vitest'
import { answerOf, cliOf, SIGNED } from '../harness/cli.ts'
import { openWorld, signUp, untilStopped } from '../harness/world.ts'

test('why says what holds now, what Stripe would change, and what was believed before', async () => {
  const world = await openWorld()
  const cli = cliOf(world)
  const { id } = await signUp(world)
  await world.settle()
  const before = new Date().toISOString()

  expect(await cli('why', 'acme', 'sso')).toMatchObject({
    code: 0,
    said: expect.stringMatching(/^acme may use sso: a subscription gives it/) as string,
  })
  world.shop.cancel(id)
  await world.sim.delivery.flush({ lose: 1 })
  expect((await cli('why', 'acme', 'sso')).said).toMatch(
    /First look at: Stripe says otherwise just now: loses/,
  )
  expect((await cli('why', 'acme', 'sso', '--no-live')).said).toContain(
    'Stripe was not asked: nobody asked for it',
  )
  await cli('reconcile', 'acme', ...SIGNED)

  expect((await cli('why', 'acme', 'sso')).said).toMatch(/^acme may not use sso: sub_\w+ is canceled/)
  expect((await cli('why', 'acme', 'sso', '--at', before)).said).toMatch(
    /it was believed that acme might use sso/,
  )
  expect((await cli('why', 'acme', 'nothing')).said).toMatch(/no plan gives nothing/)
  expect((await cli('why', 'nobody', 'sso')).said).toMatch(/Nobody ever named a tenant nobody/)
  expect((await cli('why', 'nobody', 'sso', '--at', before)).code).toBe(5)
})

test('a customer and its time are shown whole, by tenant or by id', async () => {
  const world = await openWorld()
  const cli = cliOf(world)
  const { customer, id } = await signUp(world)
  await world.settle()

  const shown = (await cli('customer', 'show', 'acme')).said
  expect(shown).toMatch(
    new RegExp(`${customer} of account default is tenant acme[^]*${id}: active, price_pro x 2`),
  )
  expect((await cli('customer', 'show', customer)).said).toBe(shown)
  const moments = await answerOf<{ what: string }[]>(cli('customer', 'timeline', 'acme', '--json'))
  const kinds = new Set(moments.map(({ what }) => what))
  expect([...kinds]).toEqual(
    expect.arrayContaining(['received', 'attempt done', 'audit applied', 'entitlement added']) as string[],
  )
  expect((await cli('customer', 'show', 'nobody')).code).toBe(5)
})

test('prices that no plan names are listed with who has them and what waits for them', async () => {
  const world = await openWorld()
  const cli = cliOf(world)
  expect(await cli('catalog', 'unmapped')).toMatchObject({
    code: 0,
    said: 'Every price in use is in the catalog.',
  })
  const { id } = world.shop.customer({ metadata: { tenant_id: 'acme' } })
  world.shop.subscribe(id, { items: [{ price: 'price_unmapped' }] })
  await world.sim.delivery.flush()
  await untilStopped(world, 'unmapped_stripe_price')

  expect(await cli('catalog', 'unmapped')).toMatchObject({
    code: 3,
    said: expect.stringMatching(/events wait and 0 are dead for price_unmapped/) as string,
  })
  expect(
    (await cli('events', 'list', '--state', 'pending', '--reason', 'unmapped_stripe_price')).said,
  ).toContain(id)
})

test('the queues, the events and what people did can be listed; findings can be seen', async () => {
  const world = await openWorld()
  const cli = cliOf(world)
  await signUp(world)
  await world.settle()
  await world.query(
    "insert into goodstanding.findings (code, account, subject) values ('double_billed', 'default', 'cus_1')",
  )

  expect((await cli('queue')).said).toMatch(/billing\.event\.default/)
  expect(
    (await cli('events', 'list', '--type', 'invoice.paid', '--limit', '1')).said.split('\n'),
  ).toHaveLength(2)
  expect((await cli('status')).code).toBe(3)
  expect((await cli('findings', 'ack', '1', ...SIGNED)).code).toBe(0)
  expect((await cli('findings', 'ack', '9', ...SIGNED)).code).toBe(6)
  expect((await cli('status')).code).toBe(0)
  expect((await cli('findings', 'list')).said).toMatch(/double_billed.*ada/)
  expect((await cli('audit', 'list')).said).toMatch(/ada +findings ack/)
  const exported = (await cli('audit', 'export')).said
    .split('\n')
    .map((line) => JSON.parse(line) as { source: string })
  expect(new Set(exported.map(({ source }) => source))).toEqual(new Set(['operator', 'program']))
  expect(JSON.stringify(exported)).not.toContain('"object"')
})

test('a customer is erased: bodies and errors go, the skeleton of the trail stays', async () => {
  const world = await openWorld()
  const cli = cliOf(world)
  const { customer } = await signUp(world)
  await world.settle()

  expect((await cli('erase', 'acme', ...SIGNED)).said).toMatch(new RegExp(`${customer}: \\d+ bodies`))
  expect(
    await world.query(
      'select 1 from goodstanding.billing_events where customer_id = $1 and payload is not null',
      [customer],
    ),
  ).toEqual([])
  expect((await world.read('acme')).body['plan']).toBe('pro')
  expect((await cli('customer', 'timeline', 'acme')).said).toMatch(/audit erased/)
  await world.query(
    "update goodstanding.billing_events set processed_at = null, outcome = null where type = 'invoice.paid'",
  )
  expect((await cli('erase', 'acme', ...SIGNED)).code).toBe(6)
})

test('the inbox beside Stripe: nothing is missing, or here are the gaps, which are stored on request', async () => {
  const world = await openWorld()
  const cli = cliOf(world)
  await signUp(world)
  await world.settle()
  await world.advance(10 * 60_000)
  expect(await cli('catchup')).toMatchObject({
    code: 0,
    said: expect.stringContaining('none is missing') as string,
  })

  const { id } = world.shop.customer({ metadata: { tenant_id: 'lost' } })
  world.shop.subscribe(id, { items: [{ price: 'price_pro' }] })
  await world.sim.delivery.flush({ lose: 1 })
  expect(await cli('catchup')).toMatchObject({ code: 0 })
  await world.advance(10 * 60_000)
  const gaps = await cli('catchup', '--days', '1')
  expect(gaps).toMatchObject({
    code: 3,
    said: expect.stringMatching(/are missing, 0 stored now[^]*customer\.created/) as string,
  })
  expect((await cli('catchup', '--store')).code).toBe(2)
  expect(await cli('catchup', '--store', '--dry-run')).toMatchObject({
    problems: 'Dry run: nothing was written.',
  })
  expect((await world.read('lost')).status).toBe(404)

  expect((await cli('catchup', '--store', ...SIGNED)).code).toBe(0)
  await world.settle()
  expect((await world.read('lost')).body['plan']).toBe('pro')
  expect((await cli('catchup')).said).toMatch(/none is missing/)
  expect((await cli('catchup', '--account', 'nobody')).code).toBe(5)
})
