// A worker that is killed leaves nothing half done: SIGKILL in the middle of two hundred events, ten times.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished, expect, test } from 'vitest'
import { brokenPromises } from '../harness/cli.ts'
import { openWorld, until, type World } from '../harness/world.ts'

const KILLS = 10
const CUSTOMERS = 40
const MAIN = join(import.meta.dirname, '../../src/main.ts')

test('a worker killed ten times in the middle of 200 events loses none, runs none twice and spends no attempt', async () => {
  const world = await openWorld({ worker: false })
  const subscriptions = signUp(world)
  for (let round = 1; round <= 4; round += 1) {
    for (const id of subscriptions) world.shop.updateSubscription(id, { quantity: round + 1 })
  }
  await world.sim.delivery.flush({ shuffle: 1, concurrency: 16 })
  // Slow enough that a kill always meets reads under way.
  world.sim.faults.next({ path: /subscriptions/, times: 10_000, fault: { delayMs: 40 } })

  for (let kill = 1; kill <= KILLS; kill += 1) {
    const worker = startWorker(world)
    const goal = (await settled(world)) + 8
    await until(`${goal} events are settled`, async () => (await settled(world)) >= goal)
    worker.kill('SIGKILL')
    await once(worker, 'exit')
  }
  const left = await pending(world)
  const last = startWorker(world)
  await until('all is settled', async () => (await pending(world)) === 0, 60_000)
  last.kill('SIGTERM')
  const [code] = (await once(last, 'exit')) as [number]

  expect(left).toBeGreaterThan(0)
  expect(code).toBe(0)
  expect(await world.query(faults)).toEqual([])
  expect(await brokenPromises(world)).toEqual([])
  const [{ attempts }] = (await world.query<{ attempts: number }>(
    'select max(attempts) as attempts from goodstanding.billing_events',
  )) as [{ attempts: number }]
  expect(attempts).toBe(1)
  const { body } = await world.read('tenant_0')
  expect(body['seats']).toBe(5)
})

const signUp = ({ shop }: World): string[] =>
  Array.from({ length: CUSTOMERS }, (_, index) => {
    const customer = shop.customer({ metadata: { tenant_id: `tenant_${index}` } })
    return shop.subscribe(customer.id, { items: [{ price: 'price_pro', quantity: 1 }] }).id
  })

const startWorker = (world: World): ChildProcess => {
  const worker = spawn(process.execPath, [MAIN, 'serve'], {
    env: { ...world.env, PATH: process.env['PATH'], ROLE: 'worker', LOG_LEVEL: 'error' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  onTestFinished(() => void worker.kill('SIGKILL'))
  return worker
}

const count = async (world: World, where: string): Promise<number> => {
  const [row] = await world.query<{ count: number }>(
    `select count(*)::int as count from goodstanding.billing_events where ${where}`,
  )
  return row?.count ?? 0
}
const settled = (world: World) => count(world, 'processed_at is not null and attempts > 0')
const pending = (world: World) => count(world, 'processed_at is null and dead_letter_at is null')

const faults = `
  select event_id, 'not processed' as fault
  from goodstanding.billing_events
  where processed_at is null
  union all
  select event_id, 'run twice'
  from goodstanding.event_attempts
  group by event_id
  having count(*) > 1
  union all
  select event_id, 'applied twice'
  from goodstanding.billing_audit
  where kind = 'applied'
  group by event_id
  having count(*) > 1`
