// The Stripe accounts that we serve, from ACCOUNTS_FILE or from the variables of one. Complaints name the path
// within the file, never a value: it may be a secret in the wrong place.
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { Secret } from './secret.ts'
import { webhookSecrets } from './variables.ts'

export type AccountConfig = {
  /** Part of the webhook's URL and of every key. */
  name: string
  /** Real money? Null where neither the key nor the configuration says. */
  livemode: boolean | null
  /** The connected account whose events these are. */
  stripeAccount: string | null
  webhookSecrets: Secret[]
  /** Null: events are stored, nothing is read. */
  apiKey: Secret | null
}

export type ReadFile = (path: string, encoding: 'utf8') => string
export type Mode = 'test' | 'live'
type Parsed<T> = { kind: 'ok'; value: T } | { kind: 'problem'; problem: string }

const ACCOUNTS_MAX = 100
const path = z.string('expected a path').min(1, 'expected a path')
const entry = z.strictObject({
  name: z
    .string('expected a name')
    .regex(
      /^[a-z0-9][a-z0-9_-]{0,62}$/,
      'expected a-z, 0-9, _ and -, at most 63, beginning with a letter or digit',
    ),
  mode: z.enum(['test', 'live'], 'expected test or live').optional(),
  stripeAccount: z
    .string('expected acct_…')
    .regex(/^acct_\w+$/, 'expected acct_…')
    .optional(),
  webhookSecrets: z.string('expected text, comma-separated').optional(),
  webhookSecretsFile: path.optional(),
  apiKey: z.string('expected text').optional(),
  apiKeyFile: path.optional(),
})
type Entry = z.infer<typeof entry>
const accountsFile = z.strictObject(
  {
    accounts: z.array(entry, 'expected a list').min(1, 'expected one at least').max(ACCOUNTS_MAX, 'too many'),
  },
  'expected {"accounts": […]}',
)

/** Reads ACCOUNTS_FILE. Files that it names are relative to its own folder. */
export const loadAccounts = (input: { file: string; web: boolean; readFile: ReadFile }) => {
  const problems: string[] = []
  const entries = readEntries(input.file, input.readFile, problems)
  const names = new Set<string>()
  const accounts = entries.map((one, index): AccountConfig => {
    const at = `ACCOUNTS_FILE: accounts[${index}]`
    if (names.has(one.name)) problems.push(`${at}.name: expected a name that no other account has`)
    names.add(one.name)
    const take = (field: 'webhookSecrets' | 'apiKey') => {
      const text = takeSecret(one, field, input)
      if (text.kind === 'problem') problems.push(`${at}.${text.problem}`)
      return text.kind === 'problem' ? null : text.value
    }
    const secrets = take('webhookSecrets')
    if (
      secrets === null &&
      input.web &&
      one.webhookSecrets === undefined &&
      one.webhookSecretsFile === undefined
    ) {
      problems.push(`${at}.webhookSecrets: expected, because ROLE includes web`)
    }
    return buildAccount({ ...one, secrets, apiKey: take('apiKey'), at, problems })
  })
  return { accounts, problems }
}

const readEntries = (file: string, readFile: ReadFile, problems: string[]): Entry[] => {
  let json: unknown
  try {
    json = JSON.parse(readFile(file, 'utf8'))
  } catch (error) {
    problems.push(
      `ACCOUNTS_FILE: ${error instanceof SyntaxError ? 'expected JSON' : 'expected a file that can be read'}`,
    )
    return []
  }
  const parsed = accountsFile.safeParse(json)
  if (parsed.success) return parsed.data.accounts
  for (const issue of parsed.error.issues) {
    const known = issue.code === 'unrecognized_keys' ? 'has a field that is not known' : issue.message
    problems.push(`ACCOUNTS_FILE: ${z.core.toDotPath(issue.path) || 'file'}: ${known}`)
  }
  return []
}

const takeSecret = (
  one: Entry,
  field: 'webhookSecrets' | 'apiKey',
  { file, readFile }: { file: string; readFile: ReadFile },
): Parsed<string | null> => {
  const [text, from] = [one[field], one[`${field}File`]]
  if (text !== undefined && from !== undefined) {
    return { kind: 'problem', problem: `${field}File: expected only one of ${field} and ${field}File` }
  }
  if (from === undefined) return { kind: 'ok', value: text?.trim() ?? null }
  try {
    return { kind: 'ok', value: readFile(resolve(dirname(file), from), 'utf8').trim() }
  } catch {
    return { kind: 'problem', problem: `${field}File: expected a file that can be read` }
  }
}

const buildAccount = (input: {
  name: string
  mode?: Mode | undefined
  stripeAccount?: string | undefined
  secrets: string | null
  apiKey: string | null
  at: string
  problems: string[]
}): AccountConfig => {
  const { name, at, problems } = input
  const secrets =
    input.secrets === null ? { success: true as const, data: [] } : webhookSecrets.safeParse(input.secrets)
  if (!secrets.success)
    problems.push(`${at}.webhookSecrets: expected 1 to 8 signing secrets (whsec_…), comma-separated`)
  const apiKey = input.apiKey === null ? null : new Secret(input.apiKey)
  if (apiKey !== null && !/^\S+$/.test(apiKey.reveal()))
    problems.push(`${at}.apiKey: expected a key without blanks`)
  const mode = modeOf(apiKey, input.mode ?? null)
  if (mode.kind === 'problem') problems.push(`${at}.mode: ${mode.problem}`)
  return {
    name,
    livemode: mode.kind === 'problem' ? null : mode.value,
    stripeAccount: input.stripeAccount ?? null,
    webhookSecrets: secrets.success ? secrets.data : [],
    apiKey,
  }
}

/** Real money or not, from the key's prefix and from what was said; null where nothing says it. */
export const modeOf = (apiKey: Secret | null, said: Mode | null): Parsed<boolean | null> => {
  const prefix = apiKey === null ? null : (/^[rs]k_(test|live)_/.exec(apiKey.reveal())?.[1] ?? 'other')
  if (prefix === 'other' && said === null) {
    return { kind: 'problem', problem: "expected test or live, because the key's prefix does not say it" }
  }
  if (prefix !== null && prefix !== 'other' && said !== null && prefix !== said) {
    return { kind: 'problem', problem: `expected ${prefix}, because that is what the key is for` }
  }
  const mode = said ?? prefix
  return { kind: 'ok', value: mode === null ? null : mode === 'live' }
}
