// The environment as operators get it wrong: every problem at once, by name, and never a secret's value.
import { describe, expect, test } from 'vitest'
import { loadConfig, type Config } from '../src/config.ts'
import { VARIABLES } from '../src/variables.ts'

const ENOUGH = { STRIPE_WEBHOOK_SECRETS: 'whsec_a' }
const FILES: Record<string, string> = {}

const readFrom =
  (files: Record<string, unknown>) =>
  (path: string): string => {
    const content = files[path]
    if (content === undefined) throw new Error('ENOENT')
    return typeof content === 'string' ? content : JSON.stringify(content)
  }

const problemsOf = (env: Record<string, string>, files: Record<string, unknown> = FILES): string[] => {
  const loaded = loadConfig(env, readFrom(files))
  return loaded.kind === 'invalid' ? loaded.problems : []
}

const configOf = (env: Record<string, string>, files: Record<string, unknown> = FILES): Config => {
  const loaded = loadConfig(env, readFrom(files))
  if (loaded.kind === 'invalid') throw new Error(loaded.problems.join('\n'))
  return loaded.config
}

const revealed = (config: Config) => config.accounts[0]?.webhookSecrets.map((secret) => secret.reveal())

test('one signing secret is enough, everything else has a default', () => {
  expect(configOf(ENOUGH)).toMatchObject({
    database: { embedded: true, directory: '.data/postgres' },
    host: '127.0.0.1',
    port: 8787,
    apiPort: null,
    metricsPort: null,
    role: 'all',
    accounts: [{ name: 'default', livemode: null, stripeAccount: null, apiKey: null }],
    stripe: { apiBase: 'https://api.stripe.com', requestsPerSecond: 20 },
    catalogFile: './catalog.json',
    tokensFile: null,
    worker: { pollMs: 5_000, batchSize: 10 },
    recoveryObjectiveMs: 300_000,
    logLevel: 'info',
  })
})

test('the configuration cannot be changed, at any depth', () => {
  const config = configOf(ENOUGH)
  expect([config, config.stripe, config.accounts, config.accounts[0]].every(Object.isFrozen)).toBe(true)
})

test('a variable that is set to nothing counts as unset', () => {
  expect(configOf({ ...ENOUGH, PORT: ' ', ACCOUNTS_FILE: '', STRIPE_MODE: '' }).port).toBe(8787)
})

test('a misspelt variable is not an error', () => {
  expect(problemsOf({ ...ENOUGH, STRIPE_API_KEYS: 'x', PROT: '1' })).toEqual([])
})

describe('one variable', () => {
  test.each([
    ['PORT', 'http', 'a port, 0 to 65535, got "http"'],
    ['PORT', '65536', 'a port, 0 to 65535, got "65536"'],
    ['PORT', '-1', 'a port, 0 to 65535, got "-1"'],
    ['PORT', '8e3', 'a port, 0 to 65535, got "8e3"'],
    ['HOST', 'a b', 'an address or host name, got "a b"'],
    ['ROLE', 'Web', 'all, web or worker, got "Web"'],
    ['DATABASE_URL', 'mysql://u:hunter2@h/d', 'a postgres:// URL'],
    ['DATABASE_POOLED', 'yes', 'true or false, got "yes"'],
    ['STRIPE_MODE', 'sandbox', 'test or live, got "sandbox"'],
    ['STRIPE_REQUESTS_PER_SECOND', '0', 'a whole number, 1 to 10000, got "0"'],
    ['STRIPE_RECONCILIATION_POLL_MS', '999', 'milliseconds, 1000 to 60000, got "999"'],
    ['STRIPE_RECONCILIATION_POLL_MS', '60001', 'milliseconds, 1000 to 60000, got "60001"'],
    ['STRIPE_RECONCILIATION_BATCH_SIZE', '26', 'a whole number, 1 to 25, got "26"'],
    ['RECOVERY_OBJECTIVE_SECONDS', '9', 'seconds, 10 to 86400, got "9"'],
    ['LOG_LEVEL', 'verbose', 'fatal, error, warn, info, debug, trace, silent, got "verbose"'],
  ])('%s=%s: expected %s', (name, value, expected) => {
    expect(problemsOf({ ...ENOUGH, [name]: value })).toEqual([`${name}: expected ${expected}`])
  })

  test.each([
    ['http://127.0.0.1:12111', true],
    ['http://localhost:12111/', true],
    ['https://[::1]:443', false],
    ['https://[::1]:4430', true],
    ['https://api.stripe.com', true],
    ['https://api.stripe.com/', true],
    ['https://api.stripe.com:8443', false],
    ['https://api.stripe.com.evil.example', false],
    ['http://10.0.0.1:12111', false],
    ['http://127.0.0.1:12111/v1', false],
    ['http://user:pass@127.0.0.1:12111', false],
    ['http://127.0.0.1.nip.io:80', false],
    ['ftp://127.0.0.1', false],
  ])('STRIPE_API_BASE=%s is accepted: %s', (base, accepted) => {
    expect(problemsOf({ ...ENOUGH, STRIPE_API_BASE: base }).length === 0).toBe(accepted)
  })
})

test('every problem is reported together', () => {
  const problems = problemsOf({
    PORT: 'x',
    ROLE: 'nobody',
    DATABASE_POOLED: 'true',
    STRIPE_API_KEY: 'sk_live_1',
    STRIPE_MODE: 'test',
  })
  expect(problems.map((problem) => problem.split(':')[0])).toEqual([
    'PORT',
    'ROLE',
    'DATABASE_POOLED',
    'STRIPE_WEBHOOK_SECRETS',
    'STRIPE_MODE',
  ])
})

test('no problem quotes a secret', () => {
  const secrets = { DATABASE_URL: 'HUNTER2', STRIPE_WEBHOOK_SECRETS: 'HUNTER2', STRIPE_API_KEY: 'HUNTER2 x' }
  expect(problemsOf(secrets)).toHaveLength(3)
  expect(problemsOf(secrets).join()).not.toContain('HUNTER2')
})

test('two ports that are the same are a problem, two free ones are not', () => {
  expect(problemsOf({ ...ENOUGH, PORT: '80', API_PORT: '80' })).toEqual([
    'API_PORT: expected a port that no other variable names, got 80',
  ])
  expect(problemsOf({ ...ENOUGH, PORT: '0', API_PORT: '0', METRICS_PORT: '0' })).toEqual([])
})

describe('signing secrets', () => {
  test('are trimmed, empty pieces dropped, all kept', () => {
    expect(revealed(configOf({ STRIPE_WEBHOOK_SECRETS: ' whsec_a ,, whsec_b,\n' }))).toEqual([
      'whsec_a',
      'whsec_b',
    ])
  })

  test.each([
    ['nothing but commas', ' , ,'],
    ['an API key in their place', 'sk_test_1'],
    ['nine of them', Array.from({ length: 9 }, (_, index) => `whsec_${index}`).join()],
  ])('%s are refused', (_, value) => {
    expect(problemsOf({ STRIPE_WEBHOOK_SECRETS: value })).toEqual([
      'STRIPE_WEBHOOK_SECRETS: expected 1 to 8 signing secrets (whsec_…), comma-separated',
    ])
  })

  test('are required where the role includes web, and only there', () => {
    expect(problemsOf({ ROLE: 'web' })).toEqual([
      'STRIPE_WEBHOOK_SECRETS: expected signing secrets (whsec_…), because ROLE includes web',
    ])
    expect(problemsOf({ ROLE: 'worker' })).toEqual([])
  })
})

describe('secrets from files', () => {
  test('are read and trimmed', () => {
    const config = configOf({ STRIPE_WEBHOOK_SECRETS_FILE: '/run/a' }, { '/run/a': 'whsec_a\n' })
    expect(revealed(config)).toEqual(['whsec_a'])
  })

  test.each(VARIABLES.filter(({ secret }) => secret).map(({ name }) => name))('%s has a _FILE', (name) => {
    const both = { [name]: 'whsec_a', [`${name}_FILE`]: '/run/a' }
    expect(problemsOf(both)).toContain(`${name}_FILE: expected only one of ${name} and ${name}_FILE`)
    const missing = { ROLE: 'worker', [`${name}_FILE`]: '/run/none' }
    expect(problemsOf(missing)).toEqual([`${name}_FILE: expected a file that can be read`])
  })

  test('an empty file is a problem', () => {
    const env = { ...ENOUGH, STRIPE_API_KEY_FILE: '/run/a' }
    expect(problemsOf(env, { '/run/a': '\n' })).toEqual([
      'STRIPE_API_KEY_FILE: expected a file that is not empty',
    ])
  })
})

describe('the mode of a key', () => {
  test.each([
    ['sk_test_1', undefined, false],
    ['rk_test_1', 'test', false],
    ['sk_live_1', undefined, true],
    ['rk_live_1', 'live', true],
    ['mk_1', 'live', true],
    [undefined, 'test', false],
    [undefined, undefined, null],
  ])('key %s, STRIPE_MODE %s: livemode %s', (key, mode, livemode) => {
    const env = { ...ENOUGH, ...(key && { STRIPE_API_KEY: key }), ...(mode && { STRIPE_MODE: mode }) }
    expect(configOf(env).accounts[0]?.livemode).toBe(livemode)
  })

  test.each([
    ['sk_live_1', 'test', 'expected live, because that is what the key is for'],
    ['rk_test_1', 'live', 'expected test, because that is what the key is for'],
    ['mk_1', undefined, "expected test or live, because the key's prefix does not say it"],
  ])('key %s, STRIPE_MODE %s: %s', (key, mode, expected) => {
    const env = { ...ENOUGH, STRIPE_API_KEY: key, ...(mode && { STRIPE_MODE: mode }) }
    expect(problemsOf(env)).toEqual([`STRIPE_MODE: ${expected}`])
  })

  test('a live key never meets a double', () => {
    const env = { ...ENOUGH, STRIPE_API_KEY: 'sk_live_1', STRIPE_API_BASE: 'http://127.0.0.1:1' }
    expect(problemsOf(env)).toEqual([
      'STRIPE_API_BASE: expected https://api.stripe.com, because account default has a live key',
    ])
  })
})
