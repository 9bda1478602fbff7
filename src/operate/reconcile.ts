// Has a customer read now, and waits (bounded) for what follows: the return from Checkout, or an operator's wish.
import { setTimeout as sleep } from 'node:timers/promises'
import { drawTicket } from '../customers/queries.ts'
import { enqueueReconcile } from '../entitlements/sweep.ts'
import { readTenant, type ReadTenant } from '../entitlements/read.ts'
import { SECOND_MS } from '../time.ts'
import { customersNamed, type Whom } from './customers.ts'
import { answer, sign, type Answer, type Parts, type Signed } from './parts.ts'
import { findReadTickets } from './customers-queries.ts'

/** Longest wait; longer would hold the caller's own request. */
export const WAIT_MAX_MS = 10 * SECOND_MS
const LOOK_MS = 100

export type ReconcileInput = Whom & { waitMs: number }
export type Reconciled = {
  /** Was everything read that could be? false: it is still under way. */
  settled: boolean
  customers: { account: string; customer: string }[]
  entitlements: ReadTenant[]
}

/** Enqueues a read of each customer that is meant, and waits at most `waitMs` until each was read since. */
export const reconcileNow = async (
  parts: Parts,
  { waitMs, ...input }: ReconcileInput,
  signed: Signed | null,
): Promise<Answer<Reconciled>> => {
  const rows = await parts.database.run((db) => customersNamed(db, input))
  if ('kind' in rows) return rows
  const customers = rows.map(({ account, customer_id: customer }) => ({ account, customer }))
  const ticket = await parts.database.transaction(async (tx) => {
    const drawn = await drawTicket(tx)
    for (const { account, customer: customerId } of customers)
      await enqueueReconcile(tx, parts.queue, { account, customerId, cause: 'asked' })
    if (signed !== null) await sign(tx, signed, { verb: 'reconcile', target: input.whom })
    return drawn.ticket
  })
  const settled = await awaitReads(parts, customers, ticket, waitMs)
  const tenants = [...new Set(rows.flatMap(({ tenant_id: tenant }) => tenant ?? []))]
  const entitlements: ReadTenant[] = []
  for (const tenant of tenants) {
    const found = await parts.database.run((db) => readTenant(db, tenant))
    if (found !== null) entitlements.push(found)
  }
  return answer({ settled, customers, entitlements })
}

// Polls, so that no connection is held while Stripe answers.
const awaitReads = async (
  parts: Parts,
  customers: { account: string; customer: string }[],
  ticket: number,
  waitMs: number,
): Promise<boolean> => {
  const until = performance.now() + Math.min(waitMs, WAIT_MAX_MS)
  for (;;) {
    const tickets = await parts.database.run((db) => findReadTickets(db, customers))
    if (tickets.every((each) => each > ticket)) return true
    if (performance.now() + LOOK_MS > until || parts.stop.aborted) return false
    await sleep(LOOK_MS)
  }
}
