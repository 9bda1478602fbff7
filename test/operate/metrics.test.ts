// What is measured, as a scrape sees it; and that every alert of deploy/ rests on something that is measured.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createApp } from '../../src/server.ts'
import { REASONS } from '../../src/reasons.ts'
import { cliOf, SIGNED } from '../harness/cli.ts'
import { anEvent } from '../harness/event.ts'
import { postDelivery } from '../harness/post.ts'
import { openWorld, signUp, until, type World } from '../harness/world.ts'

const scrape = async ({ runtime }: World): Promise<string> => {
  const response = await createApp(runtime.context, { serve: 'metrics' }).request('/metrics')
  return response.text()
}
const valueOf = (text: string, series: RegExp) =>
  Number(
    text
      .split('\n')
      .find((line) => series.test(line))
      ?.split(' ')
      .at(-1) ?? Number.NaN,
  )

test('a scrape tells deliveries, attempts, latency, calls to Stripe, pools, the queue, and the state of everything', async () => {
  const world = await openWorld()
  await signUp(world)
  await world.settle()
  await postDelivery(world.url, JSON.stringify(anEvent({ id: 'evt_odd', type: '' })))
  await postDelivery(world.url, JSON.stringify(anEvent()), { secret: 'whsec_wrong' })
  await until('it is dead', async () => (await world.event('evt_odd'))['dead_letter_at'] !== null)
  const text = await scrape(world)

  expect(
    valueOf(text, /^goodstanding_deliveries_total\{account="default",result="stored"\}/),
  ).toBeGreaterThan(5)
  expect(valueOf(text, /^goodstanding_deliveries_total.*signature_invalid/)).toBe(1)
  expect(valueOf(text, /^goodstanding_attempts_total\{account="default",how="applied"\}/)).toBeGreaterThan(3)
  expect(valueOf(text, /^goodstanding_dead_letters_total.*reason="unrecognized_stripe_payload"/)).toBe(1)
  expect(valueOf(text, /^goodstanding_event_latency_seconds_count/)).toBeGreaterThan(3)
  expect(valueOf(text, /^goodstanding_reads_total\{account="default",how="read"\}/)).toBeGreaterThan(0)
  expect(
    valueOf(text, /^goodstanding_stripe_call_seconds_count.*endpoint="subscriptions",status="ok"/),
  ).toBeGreaterThan(0)
  expect(valueOf(text, /^goodstanding_pool_connections\{pool="work",state="waiting"\}/)).toBe(0)
  expect(valueOf(text, /^goodstanding_events\{account="default",state="dead"\}/)).toBe(1)
  expect(valueOf(text, /^goodstanding_oldest_ready_seconds/)).toBe(0)
  expect(valueOf(text, /^goodstanding_workers_alive/)).toBe(1)
  expect(Math.abs(valueOf(text, /^goodstanding_clock_skew_seconds/))).toBeLessThan(60)
  expect(text).toMatch(/^messaging_client_operation_duration_count.*messaging_system="pg-boss"/m)
  expect(text).not.toMatch(/cus_|evt_|sub_|acme/)
})

test('a stopped account and a hold of revocations are numbers, too', async () => {
  const world = await openWorld({ worker: false })
  await cliOf(world)('account', 'pause', 'default', ...SIGNED)
  await cliOf(world)('hold', 'revocations', '--until', '2100-01-01T00:00:00Z', ...SIGNED)
  const text = await scrape(world)

  expect(valueOf(text, /^goodstanding_account_stopped\{account="default",cause="paused_by_operator"\}/)).toBe(
    1,
  )
  expect(valueOf(text, /^goodstanding_revocation_holds/)).toBe(1)
  expect(valueOf(text, /^goodstanding_workers_alive/)).toBe(0)
})

const deploy = (path: string) => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), 'utf8')

test('each alert rule uses measured names and points to a runbook that is there; each runbook belongs to an alert', () => {
  const rules = deploy('prometheus/rules.yml')
  const source = readFileSync(new URL('../../src/metrics.ts', import.meta.url), 'utf8')
  const names = [
    ...rules.matchAll(/\bgoodstanding_([a-z_]+?)(?:_total|_bucket|_count|_sum)?(?=[{[)\s])/g),
  ].map(([, name]) => name ?? '')
  const unknown = names.filter((name) => !new RegExp(`['{_ ]${name}['\`:]`).test(source))
  const linked = [...rules.matchAll(/deploy\/runbooks\/([\w-]+\.md)/g)].map(([, file]) => file)
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)]

  expect(names.length).toBeGreaterThan(5)
  expect(unknown).toEqual([])
  expect(linked).toHaveLength(alerts.length)
  expect(new Set(linked)).toEqual(new Set(readdirSync(new URL('../../deploy/runbooks', import.meta.url))))
})

test('a code that a runbook names is one of ours', () => {
  const folder = new URL('../../deploy/runbooks/', import.meta.url)
  const named = readdirSync(folder).flatMap((file) =>
    [
      ...readFileSync(new URL(file, folder), 'utf8').matchAll(
        /`((?:stripe|ambiguous|unmapped|customer|vanished|permission|drift|revocation)_\w+)`/g,
      ),
    ].map(([, code]) => code),
  )

  expect(named.length).toBeGreaterThan(3)
  expect(
    named.filter((code) => code !== undefined && !(code in REASONS) && code !== 'drift_customers'),
  ).toEqual([])
})

const promtool = spawnSync('promtool', ['--version']).status === 0
test.skipIf(!promtool)(
  'the rules are what promtool expects, and its tests of them pass (skipped without promtool)',
  () => {
    const folder = fileURLToPath(new URL('../../deploy/prometheus', import.meta.url))
    const ran = spawnSync('promtool', ['test', 'rules', 'rules_test.yml'], { cwd: folder, encoding: 'utf8' })

    expect({ status: ran.status, said: ran.stdout + ran.stderr }).toEqual({
      status: 0,
      said: expect.stringContaining('SUCCESS') as string,
    })
  },
)
