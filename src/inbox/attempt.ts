// Runs a step of an attempt inside a savepoint and turns what goes wrong into an outcome: whatever the step wrote is
// undone unless the step succeeded. The advisory lock was taken before, so it survives the roll-back.
import type { WorkerContext } from '../context.ts'
import { AppError } from '../errors.ts'
import type { Outcome } from '../outcome.ts'
import { isConnectionLoss, sqlState } from '../postgres/failure.ts'
import type { Transaction } from '../postgres/pool.ts'
import type { StripeFailure } from '../stripe/failure.ts'
import { readOutage, settleOutage } from './outage.ts'

type Parts = Pick<WorkerContext, 'log' | 'stop'>
type Whom = { account: string; customer_id: string | null }

/** The process is asked to stop: the claim is given back untouched. */
export class Interrupted extends Error {
  constructor() {
    super('the process is stopping')
    this.name = 'Interrupted'
  }
}

class Withdrawn extends Error {
  readonly outcome: Outcome
  constructor(outcome: Outcome) {
    super('withdrawn')
    this.outcome = outcome
  }
}

const keeps = (outcome: Outcome | null) =>
  outcome === null || outcome.kind === 'done' || outcome.kind === 'rerouted'

/** A step's outcome (null: go on). Rethrows lost connections, which nobody can settle here, and interruptions. */
export const guarded = async <T extends Outcome | null>(
  parts: Parts,
  tx: Transaction,
  whom: Whom,
  step: (savepoint: Transaction) => Promise<T>,
): Promise<T | Outcome> => {
  try {
    return await tx.transaction(async (savepoint) => {
      const outcome = await step(savepoint)
      if (!keeps(outcome)) throw new Withdrawn(outcome as Outcome)
      return outcome
    })
  } catch (error) {
    if (error instanceof Withdrawn) return error.outcome
    if (parts.stop.aborted) throw new Interrupted()
    if (isConnectionLoss(error)) throw error
    const failure: StripeFailure | null = readOutage(error)
    if (failure !== null)
      return settleOutage(parts, tx, { account: whom.account, customerId: whom.customer_id }, failure)
    parts.log.error({ account: whom.account, err: error }, 'inbox.attempt_failed')
    return { kind: 'retry', reason: 'internal_error', error: errorWord(error) }
  }
}

/** What may be stored of an error: codes and names, never messages, which can quote rows or payloads. */
export const errorWord = (error: unknown): string => {
  if (error instanceof AppError) return error.code
  const state = sqlState(error)
  const name = error instanceof Error ? error.constructor.name : typeof error
  return state === null ? name : `${name} ${state}`
}
