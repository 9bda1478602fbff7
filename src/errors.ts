// Unexpected failures, each with a code that says what it means and what an operator does. Expected answers are
// unions, not errors. Facts are shown and logged: never put a payload, a customer id or a secret there.
import { EXIT, type ExitCode } from './exit.ts'

type Row = {
  means: string
  todo: string
  /** How a command ends on it; 1 where nothing is said. */
  exit?: ExitCode
}

export const ERRORS = {
  'account/mode_changed': {
    means: 'The key of an account has another mode (test or live) than its first verified event or key had.',
    todo: 'Put the right key back; a new mode is a new account, with a name of its own in ACCOUNTS_FILE.',
    exit: EXIT.configuration,
  },
  'catalog/invalid': {
    means: 'The catalog file is not what is expected; each problem names its path.',
    todo: 'Correct the file; deploy/catalog.example.json shows the shape.',
    exit: EXIT.configuration,
  },
  'catalog/unreadable': {
    means: 'CATALOG_FILE cannot be read.',
    todo: 'Set CATALOG_FILE, or copy deploy/catalog.example.json to ./catalog.json and edit it.',
    exit: EXIT.configuration,
  },
  'clock/shifted_with_live_account': {
    means:
      'goodstanding.clock_offset has a row (a test database), and an account of live mode is configured.',
    todo: 'Use another database, or delete the row.',
    exit: EXIT.configuration,
  },
  'entitlements/read_went_backwards': {
    means: 'A read of a customer is older than the one already written. Everything was rolled back.',
    todo: 'Nothing if it happens once; report it if it repeats.',
  },
  'inbox/lost_race': {
    means: 'Another worker or an operator settled this event first. Everything was rolled back.',
    todo: 'Nothing.',
  },
  'inbox/overloaded': {
    means: 'More deliveries wait for the database than may wait. Stripe was told to come again.',
    todo: 'Look at the database first; then add replicas of the web role.',
    exit: EXIT.try_again,
  },
  'postgres/busy': {
    means: 'No database connection became free in time.',
    todo: 'Look for slow statements and locks; then for too few connections.',
    exit: EXIT.try_again,
  },
  'postgres/closed': {
    means: 'The process is shutting down and takes no more work.',
    todo: 'Nothing.',
    exit: EXIT.try_again,
  },
  'postgres/embedded_missing': {
    means:
      'DATABASE_URL is unset and the embedded PostgreSQL is not installed (it is a development dependency).',
    todo: 'Set DATABASE_URL, or install with development dependencies for a first look.',
    exit: EXIT.configuration,
  },
  'postgres/no_answer': {
    means: 'The database did not answer in time. The connection was destroyed.',
    todo: 'Look at the network and at the database; sql/inspect helps.',
    exit: EXIT.try_again,
  },
  'queue/claim_lost': {
    means: 'The job was taken by somebody else while it was worked on. Everything was rolled back.',
    todo: 'Nothing if it happens once; report it if it repeats.',
  },
  'queue/not_enqueued': {
    means: 'pg-boss did not take a job. The event that it belongs to was not stored either.',
    todo: 'Run `schema status`; look at the schema pgboss.',
  },
  'schema/ahead': {
    means: 'The database has schema changes that this release does not know.',
    todo: 'Deploy the release that made them, or a newer one.',
    exit: EXIT.conflict,
  },
  'schema/behind': {
    means: 'The database lacks schema changes of this release.',
    todo: 'Run: npm run schema -- apply',
    exit: EXIT.conflict,
  },
  'schema/locked': {
    means: 'Another process has been applying schema changes for ten minutes.',
    todo: 'Find it (sql/inspect); then run `schema apply` again.',
    exit: EXIT.try_again,
  },
  'tokens/file_invalid': {
    means: 'API_TOKENS_FILE cannot be read or is not what is expected.',
    todo: 'Correct the file; `goodstanding token create` writes entries.',
    exit: EXIT.configuration,
  },
} as const satisfies Record<string, Row>

export type ErrorCode = keyof typeof ERRORS
export type Facts = Readonly<Record<string, string | number | boolean | null>>

/** What we throw. The message is the code and its facts; `cause` keeps what led to it. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly facts: Facts

  constructor(code: ErrorCode, facts: Facts = {}, options: { cause?: unknown } = {}) {
    super(describe(code, facts), options)
    this.code = code
    this.facts = facts
  }
}

const describe = (code: ErrorCode, facts: Facts): string => {
  const shown = Object.entries(facts).map(([name, value]) => `${name}=${String(value)}`)
  return shown.length === 0 ? code : `${code} (${shown.join(', ')})`
}

/** How a command that ends with this error exits. */
export const exitCodeOf = (error: unknown): ExitCode => {
  if (!(error instanceof AppError)) return EXIT.failed
  const row: Row = ERRORS[error.code]
  return row.exit ?? EXIT.failed
}
