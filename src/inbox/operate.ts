// What the host product and operators do to the inbox: say which tenant a customer is. The API and the CLI call it.
import { insertAudit } from '../audit/queries.ts'
import type { Context } from '../context.ts'
import { linkTenant, type LinkSource } from '../customers/link.ts'
import { enqueueReconcile } from '../entitlements/sweep.ts'
import { groupOf } from '../jobs.ts'
import { lockGroup } from '../postgres/lock.ts'
import { rollBackWith } from '../postgres/pool.ts'
import { wakeStopped } from './wake.ts'

export type LinkResult =
  | { kind: 'linked' | 'unchanged' }
  | { kind: 'conflict'; reason: 'ambiguous_customer_linkage'; detail: string }
  | { kind: 'unknown_account' }

/**
 * Links a customer to a tenant in a transaction of its own, wakes and revives what waited for that, and has the
 * customer read. Waits for the customer's lock (a running attempt holds it while Stripe answers).
 */
export const linkCustomer = async (
  ctx: Pick<Context, 'accounts' | 'api' | 'queue'>,
  input: { account: string; customerId: string; tenantId: string; by: LinkSource },
): Promise<LinkResult> => {
  if (ctx.accounts.named(input.account) === null) return { kind: 'unknown_account' }
  return ctx.api.transaction<LinkResult>(async (tx) => {
    await lockGroup(tx, groupOf(input.account, input.customerId, ''))
    const link = await linkTenant(tx, input)
    if (link.kind === 'conflict') {
      const detail =
        link.boundTenantId === null
          ? 'the tenant already has another customer of this account'
          : 'the customer already belongs to another tenant'
      return rollBackWith<LinkResult>({ kind: 'conflict', reason: 'ambiguous_customer_linkage', detail })
    }
    if (link.kind === 'unchanged') return { kind: 'unchanged' }
    const { account, customerId, tenantId, by } = input
    await insertAudit(tx, {
      account,
      eventId: null,
      epoch: null,
      customerId,
      subscriptionId: null,
      kind: 'linked',
      reason: by,
      detail: { tenant_id: tenantId },
    })
    await wakeStopped(tx, ctx.queue, {
      account,
      customerId,
      reason: 'customer_not_linked',
      exceptEventId: null,
    })
    await enqueueReconcile(tx, ctx.queue, { account, customerId, cause: 'link' })
    return { kind: 'linked' }
  })
}
