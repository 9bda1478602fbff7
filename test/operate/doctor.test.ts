// Doctor against a running service: each finding says what is wrong and what to do; a test event proves the secrets.
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { cliOf } from '../harness/cli.ts'
import { openWorld, signUp, until, type World } from '../harness/world.ts'

const portOf = ({ url }: World) => new URL(url).port
const doctor = (world: World, also: Record<string, string> = {}, ...flags: string[]) =>
  cliOf(world, { PORT: portOf(world), ...also })('doctor', ...flags)
const findings = async (world: World, also: Record<string, string> = {}, ...flags: string[]) =>
  (await doctor(world, also, ...flags)).said

// The accounts file of the world with something else in it.
const withAccount = (world: World, change: Record<string, unknown>) => {
  const file = world.env['ACCOUNTS_FILE'] ?? ''
  const { accounts } = JSON.parse(readFileSync(file, 'utf8')) as { accounts: Record<string, unknown>[] }
  const other = file.replace('accounts.json', 'other-accounts.json')
  writeFileSync(other, JSON.stringify({ accounts: accounts.map((account) => ({ ...account, ...change })) }))
  return { ACCOUNTS_FILE: other }
}
const pinned = (world: World) =>
  until(
    'the account is pinned',
    async () =>
      (await world.query('select 1 from goodstanding.accounts where stripe_account_id is not null'))
        .length === 1,
  )

test('a service in order: every check says so, the test event is stored as ignored', async () => {
  const world = await openWorld()
  await pinned(world)
  // The specs' cluster is fast and forgetful; doctor says so, rightly.
  expect(await findings(world)).toMatch(/FAIL +synchronous_commit is off/)
  await world.query(
    "do $$ begin execute format('alter database %I set synchronous_commit = on', current_database()); end $$",
  )
  const { code, said } = await doctor(world)

  expect(said).toMatch(/Everything that was checked is in order\.$/)
  expect(code).toBe(0)
  for (const line of [
    /ok +PostgreSQL \d+/,
    /ok +direct connections/,
    /ok +the schema|ok .*schema/i,
    /may do what the service does|is a superuser/,
    /ok +1 workers are alive/,
    /ok +account default: the key belongs to acct_/,
    /ok +account default: the key may read what is needed/,
    /ok +account default: endpoint .*\/webhooks\/stripe\/default is enabled/,
    /ok +account default: a test event, signed with its secret, was accepted/,
  ])
    expect(said).toMatch(line)
  expect(
    await world.query("select outcome from goodstanding.billing_events where type = 'goodstanding.doctor'"),
  ).toContainEqual({ outcome: 'ignored' })
  const json = JSON.parse((await doctor(world, {}, '--json')).said) as { ok: boolean; checks: unknown[] }
  expect([json.ok, json.checks.length > 8]).toEqual([true, true])
})

test('a wrong key, a key of another account, and one that may not read something are told apart', async () => {
  const world = await openWorld()
  await pinned(world)

  expect(await findings(world, withAccount(world, { apiKey: 'sk_test_wrong' }))).toMatch(
    /FAIL +account default: Stripe refuses the key/,
  )
  world.sim.faults.next({ path: /charges/, fault: { status: 403 } })
  expect(await findings(world)).toMatch(/FAIL +account default: the key may not read charges/)
  await world.query("update goodstanding.accounts set stripe_account_id = 'acct_other'")
  expect(await doctor(world)).toMatchObject({
    code: 3,
    said: expect.stringMatching(/FAIL .*but acct_other was served before: put the right key back/) as string,
  })
})

test('a wrong secret is proved by a test event; a service that is not there is only noted', async () => {
  const world = await openWorld({ worker: false })

  expect(await findings(world, withAccount(world, { webhookSecrets: 'whsec_wrong' }))).toMatch(
    /FAIL +account default: a test event was answered 400/,
  )
  expect(await findings(world, { PORT: '1' })).toMatch(/note +account default: nothing answers at/)
  expect(await findings(world)).toMatch(/note +no worker is alive/)
})

test('an account that lost its key, a pause, and a backlog are found', async () => {
  const world = await openWorld()
  await pinned(world)
  await world.stopWorker()
  await signUp(world)
  await world.query(
    "update goodstanding.billing_events set received_at = received_at - interval '1 hour' where processed_at is null",
  )
  await world.query(
    "update goodstanding.accounts set paused_since = now(), pause_cause = 'stripe_unauthorized'",
  )

  const said = await findings(world, withAccount(world, { apiKey: undefined, mode: 'test' }))
  expect(said).toMatch(/FAIL +account default: no API key here, but it once had one/)
  expect(said).toMatch(/FAIL +account default is paused \(stripe_unauthorized\)/)
  expect(said).toMatch(/FAIL +account default: an event has waited 36\d\d s/)
})

test('before real money: versions, writers, a delivery that was seen, and alarms', async () => {
  const world = await openWorld()
  const before = await findings(world, {}, '--rollout')
  expect(before).toMatch(/FAIL +no test-mode delivery was processed here yet/)
  expect(before).toMatch(/FAIL +METRICS_PORT is not set/)
  await signUp(world)
  await world.settle()
  await world.query("insert into goodstanding.workers (worker, version) values ('old', '0.0.1')")

  const after = await findings(world, { METRICS_PORT: '2' }, '--rollout')
  expect(after).toMatch(/ok +a genuine test-mode delivery was processed/)
  expect(after).toMatch(/FAIL +workers of another version: old \(0\.0\.1\)/)
  expect(after).toMatch(/ok +no other role may write our tables/)
  expect(after).toMatch(/note +nothing answers at .*:2\/metrics/)
})
