// What an operator sees of a customer, and of those that belong to nobody.
import { mapPrice } from '../entitlements/catalog.ts'
import { loadSubscriptions } from '../entitlements/subscription-queries.ts'
import { readTenant, type ReadTenant } from '../entitlements/read.ts'
import type { Subscription } from '../entitlements/model.ts'
import type { Queries } from '../postgres/pool.ts'
import {
  blockedByPrice,
  findUnlinked,
  invoicesOf,
  livePrices,
  moneyBackOf,
  timelineOf,
} from './customers-queries.ts'
import { listFindings, listOverrides } from './grants-queries.ts'
import { answer, refuse, type Answer, type Parts, type Refusal } from './parts.ts'
import { findCustomers, findSources, type ShownCustomer } from './why-queries.ts'

export type Whom = { whom: string; account?: string | undefined }

/** The customers that `whom` (a tenant, or a customer's id) names; refused where there is none. */
export const customersNamed = async (db: Queries, input: Whom): Promise<ShownCustomer[] | Refusal> => {
  const rows = await findCustomers(db, input)
  return rows.length > 0
    ? [...rows]
    : refuse('not_found', `Neither a linked tenant nor a customer has the name ${input.whom}.`)
}

export type CustomerFacts = ShownCustomer & {
  subscriptions: Subscription[]
  gives: Awaited<ReturnType<typeof findSources>>
  invoices: Awaited<ReturnType<typeof invoicesOf>>
  money_back: Awaited<ReturnType<typeof moneyBackOf>>
  findings: Awaited<ReturnType<typeof listFindings>>
}

export type Shown = {
  customers: CustomerFacts[]
  /** What each tenant of these may use now. */
  tenants: ReadTenant[]
  grants: Awaited<ReturnType<typeof listOverrides>>
}

/** Everything that is known of a customer or a tenant. */
export const customerShow = (parts: Parts, input: Whom): Promise<Answer<Shown>> =>
  parts.database.run(async (db) => {
    const rows = await customersNamed(db, input)
    if ('kind' in rows) return rows
    const customers: CustomerFacts[] = []
    for (const row of rows) customers.push(await factsOf(db, row))
    const names = [...new Set(rows.flatMap(({ tenant_id: tenant }) => tenant ?? []))]
    const tenants: ReadTenant[] = []
    for (const name of names) tenants.push(...[await readTenant(db, name)].filter((each) => each !== null))
    const [tenant] = names
    const grants = tenant === undefined ? [] : await listOverrides(db, { tenant, all: true, limit: 20 })
    return answer({ customers, tenants, grants })
  })

const factsOf = async (db: Queries, row: ShownCustomer): Promise<CustomerFacts> => {
  const key = { account: row.account, customerId: row.customer_id }
  const subscriptions = await loadSubscriptions(db, key)
  const subjects = [key.customerId, ...subscriptions.map(({ id }) => id)]
  return {
    ...row,
    subscriptions,
    gives: await findSources(db, { account: key.account, customer: key.customerId }),
    invoices: await invoicesOf(db, key),
    money_back: await moneyBackOf(db, key),
    findings: await listFindings(db, { account: key.account, subjects, all: false, limit: 20 }),
  }
}

export type Moment = {
  account: string
  customer: string
  at: number
  what: string
  subject: string | null
  detail: string | null
}

/** What happened to a customer, or to all customers of a tenant, newest first. */
export const customerTimeline = (
  parts: Parts,
  { limit, ...input }: Whom & { limit: number },
): Promise<Answer<Moment[]>> =>
  parts.database.run(async (db) => {
    const rows = await customersNamed(db, input)
    if ('kind' in rows) return rows
    const moments: Moment[] = []
    for (const { account, customer_id: customer, tenant_id: tenantId } of rows) {
      const found = await timelineOf(db, { account, customerId: customer, tenantId, limit })
      moments.push(...found.map((each) => ({ account, customer, ...each })))
    }
    return answer(moments.toSorted((a, b) => b.at - a.at).slice(0, limit))
  })

/** Customers of no tenant for whom something waits. */
export const unlinkedCustomers = async (
  parts: Parts,
  input: { account?: string | undefined; limit: number },
): Promise<Answer<Awaited<ReturnType<typeof findUnlinked>>>> =>
  answer(await parts.database.run((db) => findUnlinked(db, input)))

export type Unmapped = {
  prices: {
    account: string
    price: string
    lookup_key: string | null
    product: string | null
    customers: number
    example: string
  }[]
  blocked: Awaited<ReturnType<typeof blockedByPrice>>
}

/** Prices of live subscriptions that the catalog in force does not name, and the events that wait for them. */
export const unmappedPrices = (parts: Parts): Promise<Answer<Unmapped>> =>
  parts.database.run(async (db) => {
    const { catalog } = parts.catalog()
    const prices = (await livePrices(db))
      .filter(({ mapped, ...each }) => {
        const remembered = mapped === null ? {} : { [each.priceId]: mapped }
        const item = { ...each, quantity: null, metered: false, periodStart: null, periodEnd: null }
        return mapPrice(catalog, remembered, item).kind === 'unmapped'
      })
      .map(({ account, priceId, lookupKey, productId, customers, example }) => ({
        account,
        price: priceId,
        lookup_key: lookupKey,
        product: productId,
        customers,
        example,
      }))
    const blocked = await blockedByPrice(db)
    return answer({ prices, blocked }, prices.length + blocked.length > 0)
  })
