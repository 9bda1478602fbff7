// The service on an embedded PostgreSQL with the Stripe double, all in this process and on loopback, outside of vitest:
// what the demo and `try:cli` stand on. Never talks to real Stripe.
import { rmSync } from 'node:fs'
import pg from 'pg'
import { createLog } from '../../src/log.ts'
import { startEmbedded } from '../../src/postgres/embedded.ts'
import { applySchema } from '../../src/postgres/schema.ts'
import { startStripeSim, type SimOptions, type StripeSim } from '../stripe-sim/sim.ts'
import { ACCOUNT, openService, type Query, type Service } from './service.ts'

export type Standalone = {
  sim: StripeSim
  service: Service
  query: Query
  databaseUrl: string
  close: () => Promise<void>
}

/** Opens everything, the worker running; what was in the folder from the last time is thrown away. */
export const openStandalone = async (
  options: { folder: string; catalog: object } & Omit<SimOptions, 'accounts'>,
): Promise<Standalone> => {
  const { folder, catalog, ...simOptions } = options
  rmSync(folder, { recursive: true, force: true })
  const database = await startEmbedded(`${folder}/postgres`)
  await applySchema(database.url, () => {})
  const pool = new pg.Pool({ connectionString: database.url, max: 2 })
  // Ctrl-C on a terminal reaches PostgreSQL, too: it ends idle connections before we do.
  pool.on('error', () => {})
  const query: Query = async (text, values) => (await pool.query(text, values as never)).rows
  const sim = await startStripeSim({ accounts: [ACCOUNT], ...simOptions })
  const log = createLog({ level: 'fatal' })
  const service = await openService({
    sim,
    accounts: [ACCOUNT],
    databaseUrl: database.url,
    query,
    log,
    catalog,
  })
  // Time is the double's from the start.
  await service.advance(0)
  await service.startWorker()
  return {
    sim,
    service,
    query,
    databaseUrl: database.url,
    close: async () => {
      await service.close()
      await sim.close()
      await pool.end()
      await database.stop()
    },
  }
}
