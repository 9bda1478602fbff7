// Final ends apply by themselves when they are read; this sweep records them in the history when they pass, so that the
// past can be explained, and has customers read again whose losses a hold of revocations kept back.
import { claimSweeps, endSweep } from '../audit/sweeps-queries.ts'
import type { WorkerContext } from '../context.ts'
import { touchTenant } from '../customers/queries.ts'
import { groupOf } from '../jobs.ts'
import { tryLockGroup } from '../postgres/lock.ts'
import { MINUTE_MS, SECOND_MS, type Instant } from '../time.ts'
import type { Entitlement } from './model.ts'
import {
  findPassed,
  findRevocationHold,
  insertHistory,
  loadEntitlements,
  putEndedRows,
  takeHeldBack,
} from './rows-queries.ts'
import { enqueueReconcile } from './sweep.ts'

const NAME = 'ends'
/** For `ensureSweeps`. */
export const ENDS = { name: NAME, everyMs: MINUTE_MS } as const
const LEASE_MS = 10 * MINUTE_MS
const BATCH = 200

type Parts = Pick<WorkerContext, 'log' | 'queue' | 'work'>

/** Runs what is due of these accounts. Returns how many customers had an end that passed. */
export const recordEnds = async (ctx: Parts, accounts: readonly string[]): Promise<number> => {
  let all = 0
  for (const { account } of await ctx.work.run((db) =>
    claimSweeps(db, { accounts, name: NAME, leaseMs: LEASE_MS }),
  )) {
    const held = await ctx.work.run((db) => findRevocationHold(db, account))
    const passed = held ? [] : await ctx.work.run((db) => findPassed(db, { account, limit: BATCH }))
    let recorded = 0
    for (const row of passed) if (await endRows(ctx, account, row)) recorded += 1
    const freed = held ? 0 : await readHeldBack(ctx, account)
    const nextMs = passed.length === BATCH ? SECOND_MS : MINUTE_MS
    await ctx.work.run((db) =>
      endSweep(db, {
        account,
        name: NAME,
        throughAt: null,
        cursor: null,
        result: { recorded, freed },
        nextMs,
      }),
    )
    all += recorded
  }
  return all
}

// False where somebody works on the customer just now: then the next run looks again.
const endRows = (
  ctx: Parts,
  account: string,
  {
    customer_id: customerId,
    tenant_id: tenantId,
    now,
  }: { customer_id: string; tenant_id: string; now: Instant },
): Promise<boolean> =>
  ctx.work.transaction(async (tx) => {
    if (!(await tryLockGroup(tx, groupOf(account, customerId, '')))) return false
    const key = { account, customerId }
    const passed = (await loadEntitlements(tx, key)).filter(
      ({ granted, finalAt }) => granted && finalAt !== null && finalAt <= now,
    )
    if (passed.length === 0) return false
    const changes = passed.map((before) => {
      const { itemId, feature, finalAt: validFrom } = before
      return { change: 'changed' as const, itemId, feature, before, after: ended(before), validFrom }
    })
    await putEndedRows(
      tx,
      key,
      changes.map(({ after }) => after),
    )
    await insertHistory(tx, { ...key, tenantId, cause: 'time', changes })
    await touchTenant(tx, { tenantId, changed: true })
    return true
  })

const ended = (row: Entitlement): Entitlement => ({
  ...row,
  state: 'ended',
  granted: false,
  recheckAt: null,
  because: { ...row.because, rule: 'final_end' },
})

const readHeldBack = (ctx: Parts, account: string): Promise<number> =>
  ctx.work.transaction(async (tx) => {
    const customers = await takeHeldBack(tx, { account, limit: BATCH })
    for (const customerId of customers)
      await enqueueReconcile(tx, ctx.queue, { account, customerId, cause: 'hold_over' })
    return customers.length
  })
