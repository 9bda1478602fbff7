// Which tenant a customer is, as the host product or an operator says it. The same link again is a no-op; one that would
// move a link is refused unless an operator replaces it.
import { insertAudit } from '../audit/queries.ts'
import {
  findCustomerOfTenant,
  rememberCustomer,
  touchTenant,
  type CustomerKey,
} from '../customers/queries.ts'
import { linkTenant, type LinkSource } from '../customers/link.ts'
import { insertHistory, loadEntitlements, removeEntitlements } from '../entitlements/rows-queries.ts'
import { enqueueReconcile } from '../entitlements/sweep.ts'
import { wakeStopped } from '../inbox/wake.ts'
import { groupOf } from '../jobs.ts'
import { sqlState } from '../postgres/failure.ts'
import { lockGroup } from '../postgres/lock.ts'
import { rollBackWith, type Transaction } from '../postgres/pool.ts'
import { moveEntitlements, unbindCustomer } from './customers-queries.ts'
import { accountNamed, answer, refuse, sign, type Answer, type Parts, type Signed } from './parts.ts'

export type LinkResult =
  | { kind: 'linked' | 'unchanged' }
  | { kind: 'conflict'; reason: 'ambiguous_customer_linkage'; detail: string }
  | { kind: 'unknown_account' }

type LinkParts = Pick<Parts, 'accounts' | 'database' | 'queue'>
export type LinkInput = { account: string; customerId: string; tenantId: string }

/**
 * Links a customer to a tenant in a transaction of its own, wakes and revives what waited for that, and has the
 * customer read. Waits for the customer's lock (a running attempt holds it while Stripe answers).
 */
export const linkCustomer = async (
  parts: LinkParts,
  input: LinkInput & { by: LinkSource },
  also: (tx: Transaction) => Promise<unknown> = async () => {},
): Promise<LinkResult> => {
  if (parts.accounts.named(input.account) === null) return { kind: 'unknown_account' }
  try {
    return await parts.database.transaction<LinkResult>(async (tx) => {
      await lockGroup(tx, groupOf(input.account, input.customerId, ''))
      const link = await linkTenant(tx, input)
      if (link.kind === 'conflict')
        return rollBackWith<LinkResult>(
          conflict(
            link.boundTenantId === null
              ? 'the tenant already has another customer of this account'
              : 'the customer already belongs to another tenant',
          ),
        )
      if (link.kind === 'unchanged') return { kind: 'unchanged' }
      await afterLink(tx, parts, input)
      await also(tx)
      return { kind: 'linked' }
    })
  } catch (error) {
    // Two customers that are linked to one tenant at once hold different locks; the key in the database stops one.
    if (sqlState(error) !== '23505') throw error
    return conflict('another link was made at the same time')
  }
}

const conflict = (detail: string): LinkResult => ({
  kind: 'conflict',
  reason: 'ambiguous_customer_linkage',
  detail,
})

const afterLink = async (tx: Transaction, { queue }: LinkParts, input: LinkInput & { by: LinkSource }) => {
  const { account, customerId, tenantId, by } = input
  await trail(tx, { account, customerId }, 'linked', by, { tenant_id: tenantId })
  await wakeStopped(tx, queue, { account, customerId, reason: 'customer_not_linked', exceptEventId: null })
  await enqueueReconcile(tx, queue, { account, customerId, cause: 'link' })
}

const trail = (
  tx: Transaction,
  { account, customerId }: CustomerKey,
  kind: 'linked' | 'unlinked',
  reason: string,
  detail: Record<string, unknown>,
) =>
  insertAudit(tx, {
    account,
    eventId: null,
    epoch: null,
    customerId,
    subscriptionId: null,
    kind,
    reason,
    detail,
  })

export type Linked = LinkInput & { result: 'linked' | 'unchanged' | 'replaced' }

/** An operator's link; with `replace` what stands in its way is unlinked in the same transaction. */
export const operatorLink = async (
  parts: Parts,
  { replace, ...input }: LinkInput & { replace: boolean },
  signed: Signed,
): Promise<Answer<Linked>> => {
  const account = accountNamed(parts, input.account)
  if ('kind' in account) return account
  const act = { verb: replace ? 'link --replace' : 'link', target: input.tenantId }
  if (replace) return replaceLink(parts, input, signed)
  const result = await linkCustomer(parts, { ...input, by: 'operator' }, (tx) =>
    sign(tx, signed, { ...act, after: { account: input.account, customer: input.customerId } }),
  )
  if (result.kind === 'linked' || result.kind === 'unchanged')
    return answer({ ...input, result: result.kind })
  return refuse(
    'conflict',
    `ambiguous_customer_linkage: ${result.kind === 'conflict' ? result.detail : ''}. Use --replace if you are sure.`,
  )
}

const replaceLink = (parts: Parts, input: LinkInput, signed: Signed): Promise<Answer<Linked>> =>
  parts.database.transaction<Answer<Linked>>(async (tx) => {
    const { account, customerId, tenantId } = input
    const other = await findCustomerOfTenant(tx, { account, tenantId })
    // In one order, whoever replaces whom.
    for (const id of [...new Set([customerId, other ?? customerId])].toSorted())
      await lockGroup(tx, groupOf(account, id, ''))
    if ((await findCustomerOfTenant(tx, { account, tenantId })) !== other)
      return rollBackWith<Answer<Linked>>(refuse('conflict', 'The link changed meanwhile: look again.'))
    const { tenant_id: before } = await rememberCustomer(tx, { account, customerId })
    if (before === tenantId) return answer({ ...input, result: 'unchanged' })
    if (other !== null) await takeAway(tx, { account, customerId: other }, signed)
    const moved = before === null ? [] : await loadEntitlements(tx, { account, customerId })
    if (before !== null) await unbindCustomer(tx, { account, customerId })
    const link = await linkTenant(tx, { ...input, by: 'operator' })
    if (link.kind === 'conflict')
      return rollBackWith<Answer<Linked>>(refuse('conflict', 'The link changed meanwhile.'))
    if (before !== null) {
      // What the customer gives goes over at once: nobody who pays waits for the next read.
      await moveEntitlements(tx, input)
      await moveHistory(tx, input, { before, rows: moved })
    }
    await afterLink(tx, parts, { ...input, by: 'operator' })
    await sign(tx, signed, {
      verb: 'link --replace',
      target: tenantId,
      before: { account, customer: other, tenant_of_customer: before },
      after: { account, customer: customerId },
    })
    return answer({ ...input, result: 'replaced' })
  })

const moveHistory = async (
  tx: Transaction,
  { account, customerId, tenantId }: LinkInput,
  { before, rows }: { before: string; rows: Awaited<ReturnType<typeof loadEntitlements>> },
) => {
  const key = { account, customerId, cause: 'link --replace' }
  const changes = rows.map((row) => ({ itemId: row.itemId, feature: row.feature, row }))
  await insertHistory(tx, {
    ...key,
    tenantId: before,
    changes: changes.map(({ row, ...at }) => ({ ...at, change: 'removed', before: row, after: null })),
  })
  await insertHistory(tx, {
    ...key,
    tenantId,
    changes: changes.map(({ row, ...at }) => ({ ...at, change: 'added', before: null, after: row })),
  })
  for (const tenant of [before, tenantId].toSorted())
    await touchTenant(tx, { tenantId: tenant, changed: true })
}

/** Takes a customer from its tenant, with all that it gives. Returns the tenant; null where it had none. */
const takeAway = async (tx: Transaction, key: CustomerKey, signed: Signed): Promise<string | null> => {
  const tenantId = await unbindCustomer(tx, key)
  if (tenantId === null) return null
  const rows = await loadEntitlements(tx, key)
  await removeEntitlements(tx, key, rows)
  await insertHistory(tx, {
    ...key,
    tenantId,
    cause: 'unlink',
    changes: rows.map((row) => ({
      itemId: row.itemId,
      feature: row.feature,
      change: 'removed',
      before: row,
      after: null,
    })),
  })
  await touchTenant(tx, { tenantId, changed: true })
  await trail(tx, key, 'unlinked', signed.operator, { tenant_id: tenantId })
  return tenantId
}

/** Takes a customer from its tenant: what it gives ends now. */
export const unlink = async (
  parts: Parts,
  { account: name, customerId }: { account: string; customerId: string },
  signed: Signed,
): Promise<Answer<{ account: string; customer: string; tenant: string }>> => {
  type Unlinked = Answer<{ account: string; customer: string; tenant: string }>
  const account = accountNamed(parts, name)
  if ('kind' in account) return account
  return parts.database.transaction<Unlinked>(async (tx) => {
    await lockGroup(tx, groupOf(name, customerId, ''))
    const tenant = await takeAway(tx, { account: name, customerId }, signed)
    if (tenant === null)
      return rollBackWith<Unlinked>(
        refuse('conflict', `${customerId} of account ${name} belongs to no tenant.`),
      )
    await sign(tx, signed, {
      verb: 'unlink',
      target: tenant,
      before: { account: name, customer: customerId },
    })
    return answer({ account: name, customer: customerId, tenant })
  })
}
