// The environment, read once into a frozen Config. The only file that may read process.env (main.ts hands it in).
// Reports every problem at once: the variable's name and what is expected, never the value of a secret.
import { readFileSync } from 'node:fs'
import { loadAccounts, modeOf, type AccountConfig, type ReadFile } from './accounts-file.ts'
import type { LogLevel } from './log.ts'
import type { Secret } from './secret.ts'
import { environment, STRIPE_API, VARIABLES, type Environment, type Variable } from './variables.ts'

export type { AccountConfig } from './accounts-file.ts'

/** Where the embedded PostgreSQL keeps its data. */
const EMBEDDED_DIRECTORY = '.data/postgres'

export type DatabaseConfig = { url: Secret; pooled: boolean } | { embedded: true; directory: string }

export type Config = {
  database: DatabaseConfig
  host: string
  /** 0: any free port. */
  port: number
  /** Null: the API is served on `port`. */
  apiPort: number | null
  metricsPort: number | null
  role: 'all' | 'web' | 'worker'
  accounts: readonly AccountConfig[]
  stripe: { apiBase: string; requestsPerSecond: number }
  catalogFile: string
  tokensFile: string | null
  worker: { pollMs: number; batchSize: number }
  recoveryObjectiveMs: number
  payloadRetentionDays: number
  /** How long an answer to Stripe waits for the effect; null: it is given as soon as the event is stored. */
  ackWaitMs: number | null
  /** `hours` 0: never; `maxRevocations` null: the larger of 5 and 1 % of tenants. */
  drift: { hours: number; maxRevocations: number | null }
  logLevel: LogLevel
}

export type LoadedConfig = { kind: 'config'; config: Config } | { kind: 'invalid'; problems: string[] }
type Env = Record<string, string | undefined>
/** The variables as text, whether given directly or by file. */
type Raw = Record<string, string | undefined>

/** Reads the configuration; all problems together. */
export const loadConfig = (env: Env, readFile: ReadFile = readFileSync): LoadedConfig => {
  const problems: string[] = []
  const raw = Object.fromEntries(
    VARIABLES.map((variable) => [variable.name, rawValue(env, variable, readFile, problems)]),
  )
  const values = parseVariables(raw, problems)
  problems.push(...problemsTogether(values))
  const accounts = accountsOf(values, readFile, problems, given(env, 'STRIPE_WEBHOOK_SECRETS'))
  problems.push(...problemsOfLiveKeys(values, accounts))
  if (problems.length > 0) return { kind: 'invalid', problems }
  return { kind: 'config', config: freezeDeeply(buildConfig(values, accounts)) }
}

/** Only where API tokens are kept: creating one needs nothing else of the configuration. */
export const tokensFileOf = (env: Env): string | null => nonEmpty(env['API_TOKENS_FILE']) ?? null

const nonEmpty = (value: string | undefined): string | undefined =>
  value?.trim() === '' ? undefined : value?.trim()

const given = (env: Env, name: string): boolean =>
  nonEmpty(env[name]) !== undefined || nonEmpty(env[`${name}_FILE`]) !== undefined

const rawValue = (
  env: Env,
  { name, secret }: Variable,
  readFile: ReadFile,
  problems: string[],
): string | undefined => {
  const value = nonEmpty(env[name])
  const file = secret ? nonEmpty(env[`${name}_FILE`]) : undefined
  if (file === undefined) return value
  if (value !== undefined) {
    problems.push(`${name}_FILE: expected only one of ${name} and ${name}_FILE`)
    return value
  }
  try {
    const text = nonEmpty(readFile(file, 'utf8'))
    if (text === undefined) problems.push(`${name}_FILE: expected a file that is not empty`)
    return text
  } catch {
    problems.push(`${name}_FILE: expected a file that can be read`)
    return undefined
  }
}

const SHOWN_CHARACTERS = 40

const complaint = ({ name, expects, secret }: Variable, raw: Raw): string => {
  const got = secret ? '' : `, got ${JSON.stringify(raw[name]?.slice(0, SHOWN_CHARACTERS) ?? null)}`
  return `${name}: expected ${expects}${got}`
}

// A wrong variable is reported and then counts as unset, so that the rules behind it are still checked.
const parseVariables = (raw: Raw, problems: string[]): Environment => {
  const parsed = environment.safeParse(raw)
  if (parsed.success) return parsed.data
  const wrong = new Set(parsed.error.issues.map((issue) => issue.path[0]))
  problems.push(
    ...VARIABLES.filter(({ name }) => wrong.has(name)).map((variable) => complaint(variable, raw)),
  )
  return environment.parse(Object.fromEntries(Object.entries(raw).filter(([name]) => !wrong.has(name))))
}

const problemsTogether = (values: Environment): string[] => {
  const problems: string[] = []
  if (values.DATABASE_POOLED && values.DATABASE_URL === undefined) {
    problems.push('DATABASE_POOLED: expected only together with DATABASE_URL')
  }
  const taken = new Set(values.PORT === 0 ? [] : [values.PORT])
  for (const name of ['API_PORT', 'METRICS_PORT'] as const) {
    const port = values[name] ?? 0
    if (taken.has(port)) problems.push(`${name}: expected a port that no other variable names, got ${port}`)
    if (port !== 0) taken.add(port)
  }
  if (values.ACCOUNTS_FILE === undefined) return problems
  for (const name of ['STRIPE_WEBHOOK_SECRETS', 'STRIPE_API_KEY', 'STRIPE_MODE'] as const) {
    if (values[name] !== undefined) problems.push(`${name}: expected unset, because ACCOUNTS_FILE is set`)
  }
  return problems
}

const accountsOf = (
  values: Environment,
  readFile: ReadFile,
  problems: string[],
  secretsGiven: boolean,
): AccountConfig[] => {
  const web = values.ROLE !== 'worker'
  if (values.ACCOUNTS_FILE !== undefined) {
    const loaded = loadAccounts({ file: values.ACCOUNTS_FILE, web, readFile })
    problems.push(...loaded.problems)
    return loaded.accounts
  }
  if (web && !secretsGiven) {
    problems.push('STRIPE_WEBHOOK_SECRETS: expected signing secrets (whsec_…), because ROLE includes web')
  }
  const apiKey = values.STRIPE_API_KEY ?? null
  const mode = modeOf(apiKey, values.STRIPE_MODE ?? null)
  if (mode.kind === 'problem') problems.push(`STRIPE_MODE: ${mode.problem}`)
  const livemode = mode.kind === 'problem' ? null : mode.value
  return [
    {
      name: 'default',
      livemode,
      stripeAccount: null,
      webhookSecrets: values.STRIPE_WEBHOOK_SECRETS ?? [],
      apiKey,
    },
  ]
}

// A double that answers for real money would write its fiction into real entitlements.
const problemsOfLiveKeys = (values: Environment, accounts: readonly AccountConfig[]): string[] =>
  values.STRIPE_API_BASE === STRIPE_API
    ? []
    : accounts
        .filter(({ livemode, apiKey }) => livemode === true && apiKey !== null)
        .map(({ name }) => `STRIPE_API_BASE: expected ${STRIPE_API}, because account ${name} has a live key`)

const buildConfig = (values: Environment, accounts: AccountConfig[]): Config => ({
  database:
    values.DATABASE_URL === undefined
      ? { embedded: true, directory: EMBEDDED_DIRECTORY }
      : { url: values.DATABASE_URL, pooled: values.DATABASE_POOLED },
  host: values.HOST,
  port: values.PORT,
  apiPort: values.API_PORT ?? null,
  metricsPort: values.METRICS_PORT ?? null,
  role: values.ROLE,
  accounts,
  stripe: { apiBase: values.STRIPE_API_BASE, requestsPerSecond: values.STRIPE_REQUESTS_PER_SECOND },
  catalogFile: values.CATALOG_FILE,
  tokensFile: values.API_TOKENS_FILE ?? null,
  worker: {
    pollMs: values.STRIPE_RECONCILIATION_POLL_MS,
    batchSize: values.STRIPE_RECONCILIATION_BATCH_SIZE,
  },
  recoveryObjectiveMs: values.RECOVERY_OBJECTIVE_SECONDS * 1_000,
  payloadRetentionDays: values.PAYLOAD_RETENTION_DAYS,
  ackWaitMs: values.WEBHOOK_ACK === 'applied' ? values.WEBHOOK_ACK_WAIT_MS : null,
  drift: { hours: values.DRIFT_INTERVAL_HOURS, maxRevocations: values.DRIFT_MAX_REVOCATIONS ?? null },
  logLevel: values.LOG_LEVEL,
})

const freezeDeeply = <T extends object>(value: T): T => {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) freezeDeeply(part)
  return Object.freeze(value)
}
