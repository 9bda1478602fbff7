// What the demo stands on: an embedded PostgreSQL, the Stripe double and the service, all in this process and on
// loopback. Never talks to real Stripe.
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { createLog } from '../../src/log.ts'
import { startEmbedded } from '../../src/postgres/embedded.ts'
import { applySchema } from '../../src/postgres/schema.ts'
import { ACCOUNT, CATALOG, openService, type Query, type Service } from '../harness/service.ts'
import { startStripeSim, type StripeSim } from '../stripe-sim/sim.ts'
import { LAST_DAY } from './later-months.ts'
import { DAY_MS } from './live.ts'

export type Theatre = {
  sim: StripeSim
  service: Service
  query: Query
  databaseUrl: string
  account: string
  close: () => Promise<void>
}

const FOLDER = '.data/demo'
const SEED = 7
// As in the tests, with two exceptions. A paused collection ends access when what was paid for is over: more to see.
// And what was read before the clock leapt over a day is borne until it has been read again.
const DEMO_CATALOG = { ...CATALOG, pausedCollection: { void: 'suspend' }, staleGraceHours: 1_000 }

/** Opens everything; what was there from the last time is thrown away. The story ends today. */
export const openTheatre = async (now: number): Promise<Theatre> => {
  rmSync(FOLDER, { recursive: true, force: true })
  const database = await startEmbedded(`${FOLDER}/postgres`)
  await applySchema(database.url, () => {})
  const pool = new pg.Pool({ connectionString: database.url, max: 2 })
  // Ctrl-C on a terminal reaches PostgreSQL, too: it ends idle connections before we do.
  pool.on('error', () => {})
  const query: Query = async (text, values) => (await pool.query(text, values as never)).rows
  const sim = await startStripeSim({ accounts: [ACCOUNT], seed: SEED, now: now - LAST_DAY * DAY_MS })
  const log = createLog({ level: 'fatal' })
  const service = await openService({
    sim,
    accounts: [ACCOUNT],
    databaseUrl: database.url,
    query,
    log,
    catalog: DEMO_CATALOG,
  })
  const shop = sim.account(ACCOUNT.name)
  for (const id of ['price_basic', 'price_pro']) shop.price({ id, unitAmount: 2_000, interval: 'month' })
  shop.price({ id: 'price_pro_yearly', lookupKey: 'pro_yearly', unitAmount: 20_000, interval: 'year' })
  await service.startWorker()
  return {
    sim,
    service,
    query,
    databaseUrl: database.url,
    account: ACCOUNT.name,
    close: async () => {
      await service.close()
      await sim.close()
      await pool.end()
      // Stopping a server that has stopped never ends.
      if (existsSync(join(database.directory, 'postmaster.pid'))) await database.stop()
    },
  }
}
