// Which tenant a Stripe customer is. Never by e-mail; at most one customer per (account, tenant); a link is never
// moved silently. Must be called under the customer's lock.
import type { Transaction } from '../postgres/pool.ts'
import {
  bindCustomer,
  findCustomerOfTenant,
  insertTenant,
  rememberCustomer,
  type CustomerKey,
} from './queries.ts'

export type LinkSource = 'checkout' | 'metadata' | 'api' | 'operator'

export type Link =
  | { kind: 'linked' }
  /** The same link was there already. */
  | { kind: 'unchanged' }
  /** The tenant has another customer of this account, or the customer another tenant: nothing was changed. */
  | { kind: 'conflict'; boundTenantId: string | null; boundCustomerId: string | null }

/** Links a customer to a tenant, which is made where it is new. */
export const linkTenant = async (
  tx: Transaction,
  input: CustomerKey & { tenantId: string; by: LinkSource },
): Promise<Link> => {
  const { tenant_id: boundTenantId } = await rememberCustomer(tx, input)
  if (boundTenantId === input.tenantId) return { kind: 'unchanged' }
  const boundCustomerId = await findCustomerOfTenant(tx, input)
  if (boundTenantId !== null || boundCustomerId !== null)
    return { kind: 'conflict', boundTenantId, boundCustomerId }
  await insertTenant(tx, input.tenantId)
  await bindCustomer(tx, input)
  return { kind: 'linked' }
}
