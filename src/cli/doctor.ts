// `doctor`: checks configuration and database, starts no service, changes nothing. Each finding says what to do.
import { existsSync } from 'node:fs'
import type { Config } from '../config.ts'
import { AppError } from '../errors.ts'
import { EXIT } from '../exit.ts'
import { openDatabase } from '../postgres/pool.ts'
import { readServerFacts, type ServerFacts } from '../postgres/server.ts'
import { schemaStatus } from '../postgres/schema.ts'
import { listAccounts, type AccountRow } from '../stripe/queries.ts'
import { SECOND_MS } from '../time.ts'
import { readCatalog } from './catalog-file.ts'
import { withDatabaseUrl } from './database-url.ts'
import type { Out } from './program.ts'
import { describeSchema } from './schema.ts'

type Check = { ok: boolean | 'note'; what: string }

const NODE_MAJOR = 24
const POSTGRES_MAJOR = 15
// Signatures allow five minutes; a clock that is off by one will be off by more.
const SKEW_MS = 60 * SECOND_MS

/** Prints one line a check; exit code 3 where one failed. */
export const doctor = async (config: Config, out: Out): Promise<number> => {
  const checks = [
    nodeVersion(),
    ...checkCatalog(config),
    ...checkKeys(config),
    ...(await checkDatabase(config)),
  ]
  for (const { ok, what } of checks)
    out.result(`${ok === true ? 'ok   ' : ok === 'note' ? 'note ' : 'FAIL '} ${what}`)
  const failed = checks.filter(({ ok }) => ok === false).length
  out.result(
    failed === 0
      ? 'Everything that was checked is in order.'
      : `${failed} of ${checks.length} checks failed.`,
  )
  return failed === 0 ? EXIT.ok : EXIT.found_problems
}

const nodeVersion = (): Check => {
  const major = Number(process.versions.node.split('.')[0])
  return major >= NODE_MAJOR
    ? { ok: true, what: `Node.js ${process.versions.node}` }
    : { ok: false, what: `Node.js ${process.versions.node}: install ${NODE_MAJOR} or newer` }
}

const checkCatalog = (config: Config): Check[] => {
  try {
    const { catalog, hash } = readCatalog(config.catalogFile)
    return [
      {
        ok: true,
        what: `catalog ${config.catalogFile}: ${Object.keys(catalog.plans).length} plans (${hash.slice(0, 12)})`,
      },
    ]
  } catch (error) {
    const facts = error instanceof AppError ? JSON.stringify(error.facts) : ''
    return [{ ok: false, what: `catalog ${config.catalogFile} cannot be used: ${facts}` }]
  }
}

const checkKeys = (config: Config): Check[] =>
  config.accounts.map(({ name, apiKey, livemode }) =>
    apiKey === null
      ? {
          ok: 'note',
          what: `account ${name}: no API key: decided from payloads alone (payload mode); set STRIPE_API_KEY to read Stripe`,
        }
      : { ok: true, what: `account ${name}: API key of ${livemode ? 'live' : 'test'} mode` },
  )

const checkDatabase = async (config: Config): Promise<Check[]> => {
  if ('embedded' in config.database && !existsSync(config.database.directory)) {
    return [
      {
        ok: 'note',
        what: `DATABASE_URL is not set: \`serve\` will make an embedded PostgreSQL in ${config.database.directory}`,
      },
    ]
  }
  try {
    return await withDatabaseUrl(
      config,
      () => {},
      async (url) => {
        const status = await schemaStatus(url)
        const schema: Check = { ok: status.kind === 'current', what: describeSchema(status) }
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
          const rows = status.kind === 'current' ? await database.run(listAccounts) : []
          return [...describeServer(facts, config), schema, ...rows.flatMap(describeAccount)]
        } finally {
          await database.end()
        }
      },
    )
  } catch (error) {
    const code =
      error instanceof AppError
        ? error.code
        : error instanceof Error && 'code' in error
          ? String(error.code)
          : 'unknown'
    return [
      {
        ok: false,
        what: `database cannot be reached (${code}): check DATABASE_URL, the network and the password`,
      },
    ]
  }
}

const describeServer = (facts: ServerFacts, config: Config): Check[] => {
  const skewMs = Math.abs(facts.now - Date.now())
  return [
    facts.major >= POSTGRES_MAJOR
      ? { ok: true, what: `PostgreSQL ${facts.version}${'embedded' in config.database ? ' (embedded)' : ''}` }
      : { ok: false, what: `PostgreSQL ${facts.version}: ${POSTGRES_MAJOR} or newer is needed` },
    facts.synchronous_commit === 'off'
      ? { ok: false, what: 'synchronous_commit is off: an acknowledged event could be lost; switch it on' }
      : { ok: true, what: `synchronous_commit is ${facts.synchronous_commit}` },
    skewMs < SKEW_MS
      ? { ok: true, what: `clocks of this machine and the database agree within ${Math.round(skewMs)} ms` }
      : { ok: false, what: `clocks differ by ${Math.round(skewMs / SECOND_MS)} s: set up NTP` },
  ]
}

const describeAccount = (row: AccountRow): Check[] => [
  {
    ok: 'note',
    what: `account ${row.account}: mode ${row.livemode === null ? 'not pinned yet' : row.livemode ? 'live' : 'test'}, Stripe account ${row.stripe_account_id ?? 'not read yet'}`,
  },
  ...(row.hold
    ? [
        {
          ok: 'note' as const,
          what: `account ${row.account} is in hold: nothing is applied until \`activate ${row.account}\``,
        },
      ]
    : []),
  ...(row.pause_cause === null
    ? []
    : [{ ok: false as const, what: `account ${row.account} is paused: ${row.pause_cause}` }]),
]
