// Accounts that may not be worked yet: real money in hold until somebody activates it, and those that lost their key.
import { expect, test } from 'vitest'
import { cliOf } from './harness/cli.ts'
import { ACCOUNT, openWorld, pending, seatsOf, signUp, until } from './harness/world.ts'

test('an account in hold stores its events until it is activated, and then applies them', async () => {
  const world = await openWorld({ worker: false })
  await world.query('update goodstanding.accounts set hold = true')
  await world.startWorker()
  await signUp(world)
  const cli = cliOf(world)
  const go = ['--operator', 'ada', '--reason', 'go live', '--yes']
  expect(await pending(world)).toBeGreaterThan(3)
  expect((await world.read('acme')).status).toBe(404)

  expect(await cli('activate', 'default', ...go)).toMatchObject({ code: 0, said: 'Account default runs.' })
  await world.settle()

  expect(await seatsOf(world)).toBe(2)
  expect(await cli('activate', 'default', ...go)).toMatchObject({
    code: 6,
    problems: 'Account default is not in hold.',
  })
  expect((await cli('activate', 'nobody', ...go)).problems).toContain('no account nobody')
  expect(
    await world.query('select operator, reason, verb, target from goodstanding.operator_actions'),
  ).toEqual([{ operator: 'ada', reason: 'go live', verb: 'activate', target: 'default' }])
})

test('an account without a key stores its events, pins its mode by the first, and holds real money', async () => {
  const real = { ...ACCOUNT, name: 'real', id: 'acct_real', livemode: true, webhookSecret: 'whsec_real' }
  const world = await openWorld({ accounts: [ACCOUNT, real], keyless: ['real'] })
  world.sim.account('real').checkout({ tenant: 'rich', items: [{ price: 'price_pro', quantity: 2 }] })
  await signUp(world)

  await until(
    'the account with a key is done',
    async () =>
      (
        await world.query(
          "select 1 from goodstanding.billing_events where account = 'default' and processed_at is null",
        )
      ).length === 0,
  )

  expect(await seatsOf(world)).toBe(2)
  expect(
    await world.query("select livemode, hold from goodstanding.accounts where account = 'real'"),
  ).toEqual([{ livemode: true, hold: true }])
  expect(
    await world.query(
      'select distinct account, attempts from goodstanding.billing_events where processed_at is null',
    ),
  ).toEqual([{ account: 'real', attempts: 0 }])
  expect((await world.read('rich')).status).toBe(404)
})

test('an account that once had a key is never decided from payloads by a process that lacks it', async () => {
  const other = { ...ACCOUNT, name: 'other', id: 'acct_other', webhookSecret: 'whsec_other' }
  const world = await openWorld({ accounts: [ACCOUNT, other], keyless: ['default', 'other'], worker: false })
  await world.query(
    "update goodstanding.accounts set livemode = false, stripe_account_id = 'acct_1' where account = 'default'",
  )
  await signUp(world)
  world.sim.account('other').checkout({ tenant: 'bolt', items: [{ price: 'price_pro', quantity: 3 }] })
  await world.sim.delivery.flush()

  await world.startWorker()
  await until('the other account is worked', async () => (await seatsOf(world, 'bolt')) === 3)

  expect(
    await world.query(
      "select 1 from goodstanding.billing_events where account = 'default' and attempts > 0 and outcome is distinct from 'ignored'",
    ),
  ).toEqual([])
  await world.query('update goodstanding.accounts set stripe_account_id = null')
  await world.settle()
  expect(await seatsOf(world)).toBe(2)
})
