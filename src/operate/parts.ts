// What operators' actions stand on, and how they answer: one set of functions, called by the CLI and by the HTTP API.
// Each answer is plain JSON; the faces only render it.
import { insertOperatorAction } from '../audit/queries.ts'
import type { CatalogInForce, Context } from '../context.ts'
import type { Database, Transaction } from '../postgres/pool.ts'
import type { Queue } from '../postgres/queue.ts'
import type { StripeAccount } from '../stripe/accounts.ts'
import type { Budget } from '../stripe/budget.ts'
import { openReader, type StripeReader } from '../stripe/read.ts'

export type Parts = Pick<Context, 'accounts' | 'log' | 'now'> & {
  database: Database
  queue: Queue
  /** The catalog in force. */
  catalog: () => CatalogInForce
  budget: Budget
  stop: AbortSignal
  /** Oldest age of a pending event that is still in order. */
  recoveryObjectiveMs: number
  /** Most customers who may lose access by one comparison; null: 5, or 1 % of tenants if that is more. */
  maxRevocations: number | null
  /** Everything is undone in the end (see `undoing`). */
  dryRun: boolean
  /** How far long work has come, for whoever waits for it. */
  progress: (line: string) => void
}

/** The same from a running process; `stop` fires when it must end. */
export const partsOf = (ctx: Context, stop: AbortSignal = new AbortController().signal): Parts => ({
  accounts: ctx.accounts,
  log: ctx.log,
  now: ctx.now,
  database: ctx.api,
  queue: ctx.queue,
  catalog: ctx.catalog,
  budget: ctx.budget,
  stop,
  recoveryObjectiveMs: ctx.config.recoveryObjectiveMs,
  maxRevocations: ctx.config.drift.maxRevocations,
  dryRun: false,
  progress: () => {},
})

/** Who acts and why: required of everything that writes, and recorded with it. */
export type Signed = { operator: string; reason: string }

/** Why something was not done, and what to do instead. */
export type Refusal = {
  kind: 'refused'
  as: 'bad_request' | 'not_found' | 'conflict' | 'unavailable'
  message: string
}

export type Answer<T> =
  | {
      kind: 'answer'
      data: T
      /** It ran, and what it found needs a person. */
      found?: boolean
    }
  | Refusal

export const answer = <T>(data: T, found = false): Answer<T> => ({ kind: 'answer', data, found })

export const refuse = (as: Refusal['as'], message: string): Refusal => ({ kind: 'refused', as, message })

/** The configured account, or why it cannot be one. */
export const accountNamed = ({ accounts }: Pick<Parts, 'accounts'>, name: string): StripeAccount | Refusal =>
  accounts.named(name) ??
  refuse(
    'not_found',
    `There is no account ${name}; configured: ${accounts.all.map((each) => each.name).join(', ')}.`,
  )

/** A read of Stripe that starts now; null where the account has no key here. */
export const readerOf = (
  { accounts, budget, stop, now }: Pick<Parts, 'accounts' | 'budget' | 'stop' | 'now'>,
  account: string,
): StripeReader | null => {
  const known = accounts.named(account)
  return known === null || known.client === null ? null : openReader(known, budget, { stop, now })
}

/** Records what a person did, in the transaction that does it. */
export const sign = (
  tx: Transaction,
  { operator, reason }: Signed,
  act: {
    verb: string
    target: string
    before?: Record<string, unknown> | null
    after?: Record<string, unknown> | null
  },
) => insertOperatorAction(tx, { before: null, after: null, ...act, operator, reason })
