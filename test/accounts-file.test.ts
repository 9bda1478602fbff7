// ACCOUNTS_FILE as operators get it wrong: every problem names its path within the file, never a value.
import { expect, test } from 'vitest'
import { loadConfig, type LoadedConfig } from '../src/config.ts'

const FILE = '/etc/a.json'
const load = (file: unknown, env: Record<string, string> = {}): LoadedConfig =>
  loadConfig({ ACCOUNTS_FILE: FILE, ...env }, (path) => {
    if (path === '/etc/eu.key') return 'rk_live_1\n'
    if (path !== FILE) throw new Error('ENOENT')
    return typeof file === 'string' ? file : JSON.stringify(file)
  })

const problemsIn = (file: unknown, env: Record<string, string> = {}): string[] => {
  const loaded = load(file, env)
  return loaded.kind === 'invalid' ? loaded.problems : []
}

test('gives several accounts, secrets by value or by a file beside it', () => {
  const file = {
    accounts: [
      { name: 'eu', webhookSecrets: 'whsec_a,whsec_b', apiKeyFile: 'eu.key' },
      { name: 'us', mode: 'test', stripeAccount: 'acct_1', webhookSecrets: 'whsec_c' },
    ],
  }
  const loaded = load(file)
  const accounts = loaded.kind === 'config' ? loaded.config.accounts : []
  expect(accounts).toMatchObject([
    { name: 'eu', livemode: true, stripeAccount: null },
    { name: 'us', livemode: false, stripeAccount: 'acct_1', apiKey: null },
  ])
  expect(accounts[0]?.apiKey?.reveal()).toBe('rk_live_1')
})

const ok = { name: 'eu', webhookSecrets: 'whsec_a' }
test.each([
  ['no JSON', '{', 'expected JSON'],
  ['a list', [], 'file: expected {"accounts": […]}'],
  ['no account', { accounts: [] }, 'accounts: expected one at least'],
  [
    'a bad name',
    { accounts: [{ ...ok, name: 'EU' }] },
    'accounts[0].name: expected a-z, 0-9, _ and -, at most 63, beginning with a letter or digit',
  ],
  ['a name twice', { accounts: [ok, ok] }, 'accounts[1].name: expected a name that no other account has'],
  [
    'an unknown field',
    { accounts: [{ ...ok, key: 'sk_live_HUNTER2' }] },
    'accounts[0]: has a field that is not known',
  ],
  ['a bad mode', { accounts: [{ ...ok, mode: 'x' }] }, 'accounts[0].mode: expected test or live'],
  [
    'a bad Connect id',
    { accounts: [{ ...ok, stripeAccount: 'x' }] },
    'accounts[0].stripeAccount: expected acct_…',
  ],
  [
    'no secrets',
    { accounts: [{ name: 'eu' }] },
    'accounts[0].webhookSecrets: expected, because ROLE includes web',
  ],
  [
    'a key as secret',
    { accounts: [{ ...ok, webhookSecrets: 'sk_1' }] },
    'accounts[0].webhookSecrets: expected 1 to 8 signing secrets (whsec_…), comma-separated',
  ],
  [
    'a missing file',
    { accounts: [{ ...ok, apiKeyFile: 'none' }] },
    'accounts[0].apiKeyFile: expected a file that can be read',
  ],
  [
    'value and file',
    { accounts: [{ ...ok, apiKey: 'x', apiKeyFile: 'eu.key' }] },
    'accounts[0].apiKeyFile: expected only one of apiKey and apiKeyFile',
  ],
  [
    'key against mode',
    { accounts: [{ ...ok, mode: 'test', apiKeyFile: 'eu.key' }] },
    'accounts[0].mode: expected live, because that is what the key is for',
  ],
])('%s is a problem that names the path', (_, file, problem) => {
  expect(problemsIn(file)).toEqual([`ACCOUNTS_FILE: ${problem}`])
})

test('cannot be mixed with the variables of one account', () => {
  expect(
    problemsIn({ accounts: [ok] }, { STRIPE_API_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRETS: 'whsec_a' }),
  ).toEqual([
    'STRIPE_WEBHOOK_SECRETS: expected unset, because ACCOUNTS_FILE is set',
    'STRIPE_API_KEY: expected unset, because ACCOUNTS_FILE is set',
  ])
})

test('problems of the file stand beside those of the variables', () => {
  expect(problemsIn({ accounts: [] }, { PORT: 'x' })).toHaveLength(2)
})
