// When an account pauses, and what lifts it: a key of another account never does, and customers that vanish one by one,
// months apart, pause nothing.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ACCOUNT, until } from '../harness/service.ts'
import { openWorld, signUp, type World } from '../harness/world.ts'

const account = async ({ query }: World) =>
  (await query('select pause_cause, probe_at, stripe_account_id from goodstanding.accounts'))[0]
const findings = ({ query }: World) =>
  query("select subject, resolved_by from goodstanding.findings where code = 'vanished_at_stripe' order by 1")

test('a key of another account is not resumed by the probe of an older pause', async () => {
  const world = await openWorld({ worker: false })
  await world.query(`
    update goodstanding.accounts
    set stripe_account_id = 'acct_right', paused_since = now(), pause_cause = 'stripe_unauthorized', probe_at = now()`)

  await world.startWorker()

  await until('it is known', async () => (await account(world))?.['pause_cause'] === 'stripe_account_changed')
  await sleep(2_500)
  expect(await account(world)).toEqual({
    pause_cause: 'stripe_account_changed',
    probe_at: null,
    stripe_account_id: 'acct_right',
  })
})

test('the right key is: the probe lifts the pause', async () => {
  const world = await openWorld({ worker: false })
  await world.query(
    `update goodstanding.accounts
     set stripe_account_id = $1, paused_since = now(), pause_cause = 'stripe_unauthorized', probe_at = now()`,
    [ACCOUNT.id],
  )

  await world.startWorker()

  await until('it goes on', async () => (await account(world))?.['pause_cause'] === null)
  expect(await account(world)).toMatchObject({ stripe_account_id: ACCOUNT.id })
})

// As after test data was deleted by hand at Stripe: we hold a live subscription that it does not know.
const loseSubscription = async (world: World, customer: string, index: number, firstSeen: string | null) => {
  await world.query(
    `insert into goodstanding.subscriptions
       (account, subscription_id, customer_id, status, cancel_at_period_end, collection)
     values ('default', $1, $2, 'active', false, 'charge_automatically')`,
    [`sub_gone${index}`, customer],
  )
  if (firstSeen !== null) {
    await world.query(
      `insert into goodstanding.findings (code, account, subject, first_seen_at, last_seen_at)
       values ('vanished_at_stripe', 'default', $1, goodstanding.clock() - $2::interval, goodstanding.clock() - $2::interval)`,
      [customer, firstSeen],
    )
  }
  await world.query(
    `update goodstanding.customers
     set recheck_at = goodstanding.clock() - interval '1 day', recheck_queued_at = null where customer_id = $1`,
    [customer],
  )
}

test.each([
  ['months apart pause nothing', ['60 days', '120 days', '180 days'], null],
  ['at once pause the account', [null, null, null], 'stripe_account_changed'],
])('three customers that vanish %s', async (_what, firstSeen, cause) => {
  const world = await openWorld()
  const customers: string[] = []
  for (const tenant of ['a', 'b', 'c']) customers.push((await signUp(world, tenant)).customer)
  await world.settle()

  for (const [index, customer] of customers.entries()) {
    await loseSubscription(world, customer, index, firstSeen[index] ?? null)
  }
  const seen = async () =>
    (
      await world.query(
        "select 1 from goodstanding.findings where last_seen_at > goodstanding.clock() - interval '1 minute'",
      )
    ).length
  await until('all are seen', async () => (await seen()) === 3)

  await world.settle()
  expect(await account(world)).toMatchObject({ pause_cause: cause })
})

test('a customer that is there again is no finding any more', async () => {
  const world = await openWorld()
  const { customer } = await signUp(world)
  await world.settle()
  await loseSubscription(world, customer, 0, null)
  await until('it is missed', async () => (await findings(world)).length === 1)

  await world.query("delete from goodstanding.subscriptions where subscription_id = 'sub_gone0'")
  world.shop.updateCustomer(customer, { email: 'back@example.com' })
  await world.deliver()

  expect(await findings(world)).toMatchObject([
    { subject: customer, resolved_by: expect.stringMatching(/^evt_/) as string },
  ])
})
