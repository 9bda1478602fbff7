// The auditor finds nothing in a database that this program wrote, and finds each promise that somebody breaks.
import { expect, test } from 'vitest'
import { brokenPromises, cliOf, SIGNED } from '../harness/cli.ts'
import { openWorld, signUp, type World } from '../harness/world.ts'

const broken = async (world: World) => (await brokenPromises(world)).map(({ promise }) => promise)

test('after a life with a change, a cancellation, a dead letter, links and grants every promise holds', async () => {
  const world = await openWorld()
  const cli = cliOf(world)
  const { customer, id } = await signUp(world)
  await world.settle()
  world.shop.updateSubscription(id, { quantity: 5 })
  await world.deliver()
  await cli('link', 'other', customer, '--replace', ...SIGNED)
  await world.settle()
  world.shop.cancel(id)
  await world.deliver()
  await cli('grant', 'add', 'other', 'sso', '--permanent', ...SIGNED)
  await cli('unlink', customer, ...SIGNED)

  expect(await broken(world)).toEqual([])
  expect(await cli('audit', 'verify')).toMatchObject({
    code: 0,
    said: expect.stringMatching(/Everything that is promised holds\.$/) as string,
  })
})

const FIRST = "select event_id from goodstanding.billing_events where type = 'customer.subscription.created'"

test.each<[string, string, RegExp]>([
  [
    'a pending event whose job is gone',
    `update goodstanding.billing_events set processed_at = null, outcome = null, job_id = null,
       received_at = received_at - interval '1 hour' where event_id in (${FIRST})`,
    /what is pending has a job/,
  ],
  [
    'a life that was settled twice',
    `insert into goodstanding.event_attempts (account, event_id, epoch, started_at, outcome, worker, version)
     select account, event_id, epoch, started_at, outcome, worker, version from goodstanding.event_attempts
     where event_id in (${FIRST})`,
    /settled twice/,
  ],
  [
    'an event that was applied twice',
    `drop index goodstanding.billing_audit_once; drop index goodstanding.billing_audit_applied_once;
     insert into goodstanding.billing_audit (account, event_id, epoch, subscription_id, kind)
     select account, event_id, epoch, subscription_id, 'applied' from goodstanding.billing_audit, generate_series(1, 2)
     where event_id in (${FIRST})`,
    /applied twice/,
  ],
  [
    'an event that nobody settled',
    `delete from goodstanding.event_attempts where event_id in (${FIRST})`,
    /without an attempt/,
  ],
  [
    'a discard without a trail',
    `update goodstanding.billing_events set outcome = 'discarded', reason = 'stale_subscription_event'
     where event_id in (${FIRST})`,
    /leaves a trail/,
  ],
  [
    'a thirteenth attempt',
    `update goodstanding.billing_events set attempts = 13 where event_id in (${FIRST})`,
    /attempts/,
  ],
  [
    'a read from the future',
    'update goodstanding.customers set read_ticket = 1000000',
    /numbered in one order/,
  ],
  [
    'an entitlement that was changed by hand',
    `update goodstanding.entitlements set value = '99' where feature = 'seats'`,
    /history says/,
  ],
  [
    'an entitlement that was made by hand',
    `update goodstanding.entitlements set feature = 'gold' where feature = 'sso'`,
    /history says/,
  ],
  [
    'an entitlement that is gone',
    `delete from goodstanding.entitlements where feature = 'sso'`,
    /history says/,
  ],
  [
    "an entitlement of another tenant's",
    `insert into goodstanding.tenants (tenant_id) values ('thief'); update goodstanding.entitlements set tenant_id = 'thief'`,
    /tenant of their customer/,
  ],
])('%s is found', async (_, sabotage, promise) => {
  const world = await openWorld()
  await signUp(world)
  await world.settle()
  await world.stopWorker()
  for (const statement of sabotage.split(';')) await world.query(statement)

  expect(await broken(world)).toContainEqual(expect.stringMatching(promise))
})
