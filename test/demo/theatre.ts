// What the demo stands on: the service on an embedded PostgreSQL and a Stripe double with three prices.
import { ACCOUNT, CATALOG } from '../harness/service.ts'
import { openStandalone, type Standalone } from '../harness/standalone.ts'
import { LAST_DAY } from './later-months.ts'
import { DAY_MS } from './live.ts'

export type Theatre = Standalone & { account: string }

const FOLDER = '.data/demo'
const SEED = 7
// As in the tests, but a paused collection ends access when what was paid for is over: more to see.
const DEMO_CATALOG = { ...CATALOG, pausedCollection: { void: 'suspend' } }

/** Opens everything; what was there from the last time is thrown away. The story ends today. */
export const openTheatre = async (now: number): Promise<Theatre> => {
  const standalone = await openStandalone({
    folder: FOLDER,
    catalog: DEMO_CATALOG,
    seed: SEED,
    now: now - LAST_DAY * DAY_MS,
  })
  const shop = standalone.sim.account(ACCOUNT.name)
  for (const id of ['price_basic', 'price_pro']) shop.price({ id, unitAmount: 2_000, interval: 'month' })
  shop.price({ id: 'price_pro_yearly', lookupKey: 'pro_yearly', unitAmount: 20_000, interval: 'year' })
  return { ...standalone, account: ACCOUNT.name }
}
