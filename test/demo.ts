// `npm run demo`: a real PostgreSQL, the Stripe double and the service; a dozen tenants live through two months while
// their webhooks come late, twice, out of order or not at all. Checks itself at the end. Never talks to real Stripe.
// Without a terminal it exits (0 if all is as it should be); on one it stays up and says where to look.
import { rmSync } from 'node:fs'
import pg from 'pg'
import { createLog } from '../src/log.ts'
import { startEmbedded } from '../src/postgres/embedded.ts'
import { applySchema } from '../src/postgres/schema.ts'
import { DAYS, TENANTS, type Stage } from './demo-stories.ts'
import { ACCOUNT, CATALOG, openService, READ_TOKEN, type Query, type Service } from './harness/service.ts'
import { expectedEntitlements } from './stripe-sim/oracle.ts'
import { startStripeSim, type Shop, type StripeSim } from './stripe-sim/sim.ts'

const DAY_MS = 86_400_000
const FOLDER = '.data/demo'
const SEED = 7

const say = (line = '') => console.log(line)

const main = async (): Promise<number> => {
  rmSync(FOLDER, { recursive: true, force: true })
  say('goodstanding demo: embedded PostgreSQL, a simulated Stripe, twelve tenants, two months.')
  const database = await startEmbedded(`${FOLDER}/postgres`)
  await applySchema(database.url, () => {})
  const pool = new pg.Pool({ connectionString: database.url, max: 2 })
  const query: Query = async (text, values) => (await pool.query(text, values as never)).rows
  const lastDay = DAYS.at(-1)?.day ?? 0
  const sim = await startStripeSim({ accounts: [ACCOUNT], seed: SEED, now: Date.now() - lastDay * DAY_MS })
  const log = createLog({ level: 'fatal' })
  const service = await openService({ sim, accounts: [ACCOUNT], databaseUrl: database.url, query, log })
  const close = async () => {
    await service.close()
    await sim.close()
    await pool.end()
    await database.stop()
  }
  try {
    await live(sim, service)
    const right = await check(sim.account(ACCOUNT.name), service, query, sim.clock.now())
    if (process.stdout.isTTY && right) await stayUp(service, database.url)
    return right ? 0 : 1
  } finally {
    await close()
  }
}

const live = async (sim: StripeSim, service: Service) => {
  const shop = sim.account(ACCOUNT.name)
  for (const id of ['price_basic', 'price_pro']) shop.price({ id, unitAmount: 2_000, interval: 'month' })
  shop.price({ id: 'price_pro_yearly', lookupKey: 'pro_yearly', unitAmount: 20_000, interval: 'year' })
  await service.advance(0)
  await service.startWorker()
  const stage: Stage = {
    shop,
    known: new Map(),
    link: (tenant, customer) => link(service, shop, tenant, customer),
  }
  const shown = new Map<string, string>()
  let today = 0
  for (const { day, title, act } of DAYS) {
    await service.advance((day - today) * DAY_MS)
    today = day
    say(`\nday ${String(day).padStart(2)}  ${title}`)
    await act(stage)
    // What the days since have made due: trials, renewals, scheduled ends.
    shop.tick()
    const how = { shuffle: SEED + day, duplicates: 0.3, lose: 0.15 }
    const first = await sim.delivery.flush(how)
    await service.settle()
    const again = await sim.delivery.redeliver({ shuffle: SEED + day })
    await service.settle()
    say(
      `        webhooks: ${first.tries} sent in random order, ${first.duplicated} of them twice; ${first.lost} lost, ${again.tries} sent again later`,
    )
    await showChanges(service, shown)
  }
}

const link = async (service: Service, shop: Shop, tenant: string, customer: string) => {
  const status = await service.link(tenant, customer)
  if (status !== 200) throw new Error(`linking ${tenant} was answered with ${status}`)
  // The check must know what only we were told.
  shop.linkedByHost(customer, tenant)
}

type Read = {
  plan: string
  active: boolean
  state: string
  seats: number | null
  features: Record<string, { value: unknown }>
}

const describe = ({ plan, state, seats, features }: Read): string => {
  const granted = Object.keys(features).filter((name) => name !== 'seats')
  return `${plan.padEnd(5)} ${state.padEnd(9)} ${seats === null ? '' : `${seats} seats`.padEnd(9)}${granted.join(' ')}`.trimEnd()
}

const showChanges = async (service: Service, shown: Map<string, string>) => {
  for (const { id, story } of TENANTS) {
    const { status, body } = await service.read(id)
    const now = status === 200 ? describe(body as Read) : 'unknown to us'
    if (shown.get(id) === now) continue
    say(`        ${id}  ${now.padEnd(40)} ${shown.has(id) ? '' : `(${story})`}`.trimEnd())
    shown.set(id, now)
  }
}

const simple = ({ plan, active, state, seats, features }: Read) =>
  JSON.stringify([
    plan,
    active,
    state,
    seats,
    Object.keys(features)
      .toSorted()
      .map((name) => [name, features[name]?.value]),
  ])

const check = async (shop: Shop, service: Service, query: Query, at: number): Promise<boolean> => {
  say('\nCheck: every tenant against what an independent reading of the simulated Stripe expects')
  let wrong = 0
  for (const { id } of TENANTS) {
    const expected = expectedEntitlements(shop, CATALOG as never, id, at)
    const features = Object.fromEntries(
      Object.entries(expected.features).map(([name, value]) => [name, { value }]),
    )
    const actual = (await service.read(id)).body as Read
    if (simple(actual) === simple({ ...expected, features })) continue
    wrong += 1
    say(`  WRONG ${id}: expected ${describe({ ...expected, features })}, got ${describe(actual)}`)
  }
  const [ledger] = await query<Record<string, string>>(`
    select count(*) as events, sum(deliveries) as deliveries,
      count(*) filter (where outcome in ('applied', 'no_change', 'superseded')) as read,
      count(*) filter (where outcome = 'superseded') as superseded,
      count(*) filter (where outcome = 'ignored') as ignored,
      count(*) filter (where processed_at is null and dead_letter_at is null) as pending,
      count(*) filter (where dead_letter_at is not null) as dead
    from goodstanding.billing_events`)
  say(`  ${TENANTS.length - wrong} of ${TENANTS.length} tenants as expected`)
  say(
    `  ${ledger?.['events']} events: ${ledger?.['read']} read and compared with Stripe (${ledger?.['superseded']} of them said something outdated), ${ledger?.['ignored']} without bearing, ${ledger?.['pending']} pending, ${ledger?.['dead']} dead letters`,
  )
  const settled = ledger?.['pending'] === '0' && ledger['dead'] === '0'
  say(wrong === 0 && settled ? '  All is as it should be.' : '  Something is not as it should be.')
  return wrong === 0 && settled
}

const stayUp = async (service: Service, url: string) => {
  say(`
Still running. Look around:
  curl -H 'Authorization: Bearer ${READ_TOKEN}' ${service.url}/v1/tenants/acme/entitlements
  psql '${url}' -c 'select * from goodstanding.effective_plans'
  psql '${url}' -c 'select * from goodstanding.effective_entitlements order by 1, 2'
  psql '${url}' -c 'select * from goodstanding.webhook_ledger order by received_at desc limit 20'
Ctrl-C ends it.`)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
}

process.exitCode = await main()
process.exit()
