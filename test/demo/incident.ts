// `npm run demo -- --incident`: a shift on call. Two replicas of the service on one embedded PostgreSQL; six things go
// wrong, one after the other; each is found by `status`, explained, repaired by the command line, and proved repaired. The
// commands are the real ones; what they print is shown. Exit code 0 where every step found what it should.
import { rmSync } from 'node:fs'
import pg from 'pg'
import { createLog } from '../../src/log.ts'
import { startEmbedded } from '../../src/postgres/embedded.ts'
import { applySchema } from '../../src/postgres/schema.ts'
import { ACCOUNT, CATALOG, openService, type Query, type Service } from '../harness/service.ts'
import { startStripeSim, type StripeSim } from '../stripe-sim/sim.ts'
import { INCIDENTS } from './incidents.ts'
import { openShift, type Shift } from './shift.ts'

const FOLDER = '.data/incident'

export type Stand = {
  sim: StripeSim
  /** Two replicas of everything. */
  replicas: readonly [Service, Service]
  query: Query
  databaseUrl: string
}

/** Plays the whole shift; `say` gets its lines. True where every step found what it should. */
export const playIncidents = async (say: (line: string) => void): Promise<boolean> => {
  rmSync(FOLDER, { recursive: true, force: true })
  const database = await startEmbedded(`${FOLDER}/postgres`)
  const pool = new pg.Pool({ connectionString: database.url, max: 2 })
  pool.on('error', () => {})
  const closers: (() => Promise<unknown>)[] = [() => database.stop(), () => pool.end()]
  try {
    await applySchema(database.url, () => {})
    const query: Query = async (text, values) => (await pool.query(text, values as never)).rows
    const sim = await startStripeSim({ accounts: [ACCOUNT], now: Date.now() })
    closers.push(() => sim.close())
    const stand = { sim, query, databaseUrl: database.url }
    const replicas = [await openReplica(stand), await openReplica(stand)] as const
    closers.push(...replicas.map((replica) => () => replica.close()))
    const shop = sim.account(ACCOUNT.name)
    for (const id of ['price_basic', 'price_pro', 'price_team'])
      shop.price({ id, unitAmount: 2_000, interval: 'month' })
    return await play(openShift({ ...stand, replicas }, say))
  } finally {
    for (const close of closers.toReversed()) await close().catch(() => {})
  }
}

const openReplica = async (stand: Omit<Stand, 'replicas'>): Promise<Service> => {
  const service = await openService({
    ...stand,
    accounts: [ACCOUNT],
    log: createLog({ level: 'silent' }),
    catalog: CATALOG,
    env: { RECOVERY_OBJECTIVE_SECONDS: '10' },
  })
  await service.startWorker()
  return service
}

const play = async (shift: Shift): Promise<boolean> => {
  await shift.customers()
  for (const [index, { title, play: scene }] of INCIDENTS.entries()) {
    shift.title(`${index + 1}. ${title}`)
    await scene(shift)
  }
  shift.title('The end of the shift')
  await shift.expect(['status'], /^All is in order\./)
  await shift.expect(['audit', 'verify'], /Everything that is promised holds/)
  await shift.expect(['audit', 'list'], /requeue[^]*resolve --discard|resolve --discard[^]*requeue/)
  await shift.exported()
  return shift.right()
}
