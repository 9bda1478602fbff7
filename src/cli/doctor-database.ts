// Doctor's look at the database: reach, version, durability, clock, privileges, pooled or direct, schema of ours and of
// pg-boss, and what it says of accounts, workers and events.
import { existsSync } from 'node:fs'
import type { Config } from '../config.ts'
import { AppError } from '../errors.ts'
import { accountStates, listWorkers } from '../operate/status-queries.ts'
import { openDatabase, type Database } from '../postgres/pool.ts'
import {
  findPrivileges,
  findWriters,
  hasWebhooks,
  readServerFacts,
  type Privileges,
  type ServerFacts,
} from '../postgres/server.ts'
import { schemaStatus } from '../postgres/schema.ts'
import { listAccounts, type AccountRow } from '../stripe/queries.ts'
import { SECOND_MS, type Instant } from '../time.ts'
import { VERSION } from '../version.ts'
import { withDatabaseUrl } from './database-url.ts'
import { fail, note, ok, type Check } from './doctor-check.ts'
import { describeSchema } from './schema.ts'

const POSTGRES_MAJOR = 15
// Signatures allow five minutes; a clock that is off by one will be off by more.
const SKEW_MS = 60 * SECOND_MS

export type DatabaseChecks = { checks: Check[]; accounts: readonly AccountRow[] }
type Options = { now: () => Instant; rollout: boolean }

/** What the database says, and the accounts' rows for the checks that follow. */
export const checkDatabase = async (config: Config, options: Options): Promise<DatabaseChecks> => {
  if ('embedded' in config.database && !existsSync(config.database.directory)) {
    const { directory } = config.database
    const what = `DATABASE_URL is not set: \`serve\` will make an embedded PostgreSQL in ${directory}`
    return { checks: [note(what)], accounts: [] }
  }
  try {
    return await withDatabaseUrl(
      config,
      () => {},
      (url) => checkAt(config, url, options),
    )
  } catch (error) {
    const code =
      error instanceof AppError
        ? error.code
        : error instanceof Error && 'code' in error
          ? String(error.code)
          : 'unknown'
    return {
      checks: [
        fail(`database cannot be reached (${code}): check DATABASE_URL, the network and the password`),
      ],
      accounts: [],
    }
  }
}

const checkAt = async (config: Config, url: string, { now, rollout }: Options): Promise<DatabaseChecks> => {
  const status = await schemaStatus(url)
  const current = status.kind === 'current'
  const schema = current ? ok(describeSchema(status)) : fail(describeSchema(status))
  const pooled = 'pooled' in config.database && config.database.pooled
  const database = await openDatabase({
    url,
    name: 'goodstanding-doctor',
    size: 1,
    pooled,
    statementTimeoutMs: 5 * SECOND_MS,
    lockTimeoutMs: 5 * SECOND_MS,
    idleInTransactionTimeoutMs: 5 * SECOND_MS,
    acquireTimeoutMs: 5 * SECOND_MS,
  })
  try {
    const facts = await database.run(readServerFacts)
    const server = [...describeServer(facts, config, now()), pooling(url, pooled), schema]
    if (!current) return { checks: server, accounts: [] }
    const accounts = await database.run(listAccounts)
    const more = rollout ? await checkRollout(database) : []
    const checks = [...server, await privileges(database), ...accounts.flatMap(describeAccount)]
    return { checks: [...checks, ...(await checkWork(config, database)), ...more], accounts }
  } finally {
    await database.end()
  }
}

const describeServer = (facts: ServerFacts, config: Config, now: Instant): Check[] => {
  const skewMs = Math.abs(facts.now - now)
  const version = `PostgreSQL ${facts.version}`
  return [
    facts.major >= POSTGRES_MAJOR
      ? ok(`${version}${'embedded' in config.database ? ' (embedded)' : ''}`)
      : fail(`${version}: ${POSTGRES_MAJOR} or newer is needed`),
    facts.synchronous_commit === 'off'
      ? fail('synchronous_commit is off: an acknowledged event could be lost; switch it on')
      : ok(`synchronous_commit is ${facts.synchronous_commit}`),
    skewMs < SKEW_MS
      ? ok(`clocks of this machine and the database agree within ${Math.round(skewMs)} ms`)
      : fail(`clocks differ by ${Math.round(skewMs / SECOND_MS)} s: set up NTP`),
  ]
}

// A pooler's usual ports; nothing but its port tells one from outside.
const POOLER_PORTS = new Set(['6432', '6543'])

const pooling = (url: string, pooled: boolean): Check => {
  const { port } = new URL(url)
  if (pooled) return note('DATABASE_POOLED: no named statements and no LISTEN; polling finds due events')
  return POOLER_PORTS.has(port)
    ? fail(`port ${port} looks like a transaction pooler: set DATABASE_POOLED=true, or use the direct URL`)
    : ok('direct connections: named statements and LISTEN are used')
}

const privileges = async (database: Database): Promise<Check> => {
  const row: Privileges = await database.run(findPrivileges)
  if (row.missing.length > 0)
    return fail(
      `${row.role} may not use ${row.missing.join(', ')}: grant it, or connect as the schema's owner`,
    )
  return row.superuser
    ? note(`${row.role} is a superuser: give the service a role of its own`)
    : ok(`${row.role} may do what the service does`)
}

const describeAccount = (row: AccountRow): Check[] => [
  note(
    `account ${row.account}: mode ${row.livemode === null ? 'not pinned yet' : row.livemode ? 'live' : 'test'}, Stripe account ${row.stripe_account_id ?? 'not pinned yet'}`,
  ),
  ...(row.hold
    ? [note(`account ${row.account} is in hold: nothing is applied until \`activate ${row.account}\``)]
    : []),
  ...(row.pause_cause === null
    ? []
    : [fail(`account ${row.account} is paused (${row.pause_cause}): \`status\` says what makes it go on`)]),
]

const checkWork = async (config: Config, database: Database): Promise<Check[]> => {
  const workers = (await database.run(listWorkers)).filter(({ alive }) => alive)
  const late = (await database.run(accountStates)).filter(
    ({ oldest_ready_at: oldest, now }) => oldest !== null && now - oldest > config.recoveryObjectiveMs,
  )
  return [
    workers.length > 0
      ? ok(`${workers.length} workers are alive`)
      : note('no worker is alive: start one (ROLE=worker or all)'),
    ...late.map(({ account, oldest_ready_at: oldest, now }) =>
      fail(
        `account ${account}: an event has waited ${Math.round((now - (oldest ?? now)) / SECOND_MS)} s: see \`status\``,
      ),
    ),
  ]
}

// Before real money is activated.
const checkRollout = async (database: Database): Promise<Check[]> => {
  const others = (await database.run(listWorkers)).filter(
    ({ alive, version }) => alive && version !== VERSION,
  )
  const writers = await database.run(findWriters)
  const heard = await database.run(hasWebhooks)
  return [
    others.length === 0
      ? ok(`every worker that is alive runs ${VERSION}`)
      : fail(
          `workers of another version: ${others.map(({ worker, version }) => `${worker} (${version})`).join(', ')}`,
        ),
    writers.length === 0
      ? ok('no other role may write our tables')
      : fail(`these roles may write our tables, too: ${writers.join(', ')}; revoke that`),
    heard
      ? ok('a genuine test-mode delivery was processed here')
      : fail('no test-mode delivery was processed here yet: send one from Stripe first (`stripe trigger`)'),
  ]
}
