// `audit verify`: the auditor. Asks a database of any size whether what this program promises holds in it: nothing lost,
// nothing settled or applied twice, nothing unexplained, entitlements as their history says. Changes nothing.
import type { Queries } from '../postgres/pool.ts'
import { ATTEMPTS_MAX } from '../inbox/settle.ts'
import { answer, type Answer, type Parts } from './parts.ts'
import {
  appliedTwice,
  foreignRows,
  historyDisagrees,
  readsAhead,
  settledTwice,
  tooManyAttempts,
  unexplained,
  untrailed,
  withoutJob,
} from './verify-queries.ts'

export type Verified = {
  /** What must hold. */
  promise: string
  /** What contradicts it, 20 at most. */
  violations: readonly { subject: string; what: string }[]
}[]

type Check = (db: Queries) => Promise<Verified[number]['violations']>

const CHECKS: readonly [promise: string, check: Check][] = [
  ['Nothing acknowledged is lost: what is pending has a job.', withoutJob],
  ['No life of an event is settled twice.', settledTwice],
  ['No event is applied twice to a subscription.', appliedTwice],
  ['Nothing is settled without an attempt, a person or a reason.', unexplained],
  ['What is not followed leaves a trail.', untrailed],
  [`No life has more than ${ATTEMPTS_MAX} attempts.`, (db) => tooManyAttempts(db, ATTEMPTS_MAX)],
  ['Reads are numbered in one order.', readsAhead],
  ['Entitlements are what their history says.', historyDisagrees],
  ['Entitlements belong to the tenant of their customer.', foreignRows],
]

/** Runs every check; `found` where one is violated. */
export const auditVerify = (parts: Parts): Promise<Answer<Verified>> =>
  parts.database.run(async (db) => {
    const verified: Verified = []
    for (const [promise, check] of CHECKS) {
      parts.progress(promise)
      verified.push({ promise, violations: await check(db) })
    }
    return answer(
      verified,
      verified.some(({ violations }) => violations.length > 0),
    )
  })
