// The vocabulary of the system specs: a Stripe double, a database of one's own, and the service between them.
import { onTestFinished } from 'vitest'
import { createLog } from '../../src/log.ts'
import { sharedHonesty } from '../stripe-sim/honesty/check.ts'
import { startStripeSim, type SimAccount, type StripeSim } from '../stripe-sim/sim.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { capturedLog } from './log-capture.ts'
import { ACCOUNT, openService, type Service, type ServiceOptions } from './service.ts'

export { ACCOUNT, CATALOG, until, untilStopped } from './service.ts'

export type WorldOptions = Partial<Pick<ServiceOptions, 'catalog' | 'keyless' | 'env'>> & {
  accounts?: SimAccount[]
  /** false: no worker until `startWorker`. */
  worker?: boolean
  seed?: number
  /** Takes over the end of the world, for one that the tests of a file share; by default it ends with the test. */
  cleanup?: (close: () => Promise<void>) => void
}

export type World = Service & {
  sim: StripeSim
  /** Of the first account. */
  shop: ReturnType<StripeSim['account']>
  database: TestDatabase
  query: TestDatabase['query']
  /** The inbox row of an event. */
  event: (eventId: string) => Promise<Record<string, unknown>>
}

/** A fresh world, with price_basic and price_pro in its Stripe, ended when the test ends (or see `cleanup`). */
export const openWorld = async (options: WorldOptions = {}): Promise<World> => {
  const accounts = options.accounts ?? [ACCOUNT]
  const sim = await startStripeSim({
    honesty: sharedHonesty(),
    accounts,
    ...(options.seed !== undefined && { seed: options.seed }),
    now: Date.now(),
  })
  const database = await createTestDatabase()
  const log = createLog({ level: 'debug', destination: capturedLog })
  const { query } = database
  const service = await openService({ ...options, sim, accounts, databaseUrl: database.url, query, log })
  const cleanup = options.cleanup ?? onTestFinished
  cleanup(async () => {
    await service.close()
    await sim.close()
    await database.drop()
  })
  for (const { name } of accounts) stock(sim.account(name))
  if (options.worker !== false) await service.startWorker()
  return {
    ...service,
    sim,
    shop: sim.account(accounts[0]?.name ?? ''),
    database,
    query,
    event: async (eventId) => {
      const [row] = await query<Record<string, unknown>>(
        'select * from goodstanding.billing_events where event_id = $1',
        [eventId],
      )
      if (row === undefined) throw new Error(`no event ${eventId}`)
      return row
    },
  }
}

/** The prices of the catalog, and one that it does not know. */
const stock = (shop: ReturnType<StripeSim['account']>): void => {
  for (const plan of ['basic', 'pro', 'unmapped']) {
    shop.product(`prod_${plan}_x`)
    shop.price({ id: `price_${plan}`, product: `prod_${plan}_x`, unitAmount: 1_000, interval: 'month' })
  }
}

/** A customer that is linked by its metadata, with a subscription of two seats of pro; its events are delivered. */
export const signUp = async (
  { shop, sim }: World,
  tenant = 'acme',
): Promise<{ customer: string; id: string }> => {
  const customer = shop.customer({ metadata: { tenant_id: tenant } })
  const { id } = shop.subscribe(customer.id, { items: [{ price: 'price_pro', quantity: 2 }] })
  await sim.delivery.flush()
  return { customer: customer.id, id }
}

/** The tenant's seats as the API tells them. */
export const seatsOf = async (world: World, tenant = 'acme') => (await world.read(tenant)).body['seats']

/** Events that are not processed. */
export const pending = async ({ query }: World): Promise<number> =>
  (await query('select event_id from goodstanding.billing_events where processed_at is null')).length
