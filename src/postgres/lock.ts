// The customer's advisory lock: one writer a customer, held until the transaction ends. Lock order for everyone:
// this lock, then the Stripe read, then rows (event, jobs, customer, projections, entitlements, tenant last).
import { sql } from 'slonik'
import { z } from 'zod'
import type { Transaction } from './pool.ts'

// Keeps our keys apart from those of other programs in the same database.
const SEED = 7_031_964

const taken = sql.type(z.strictObject({ taken: z.boolean() }))

/** Takes the lock of a group (`account:customer`) if it is free. Two groups may share a lock: they only wait. */
export const tryLockGroup = async (tx: Transaction, group: string): Promise<boolean> =>
  (await tx.one(taken`select pg_try_advisory_xact_lock(hashtextextended(${group}, ${SEED})) as taken`)).taken

/** Waits for the lock of a group, at most the transaction's lock_timeout (then SQLSTATE 55P03). */
export const lockGroup = async (tx: Transaction, group: string): Promise<void> => {
  await tx.query(sql.unsafe`select pg_advisory_xact_lock(hashtextextended(${group}, ${SEED}))`)
}
