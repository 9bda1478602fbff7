// Doctor's look at each Stripe account: whose key it is, what it may read, which endpoint Stripe delivers to, and whether a
// delivery that is signed with our own secret is accepted.
import type { AccountConfig, Config } from '../config.ts'
import { NEEDED_TYPES, WORKED_TYPES } from '../inbox/envelope.ts'
import type { AccountRow } from '../stripe/queries.ts'
import { openAccounts, type StripeAccount } from '../stripe/accounts.ts'
import { askAccount, SDK_API_VERSION, type AccountAnswers } from '../stripe/check.ts'
import { signatureHeader } from '../stripe/webhook.ts'
import { SECOND_MS, type Instant } from '../time.ts'
import { fail, note, ok, type Check } from './doctor-check.ts'

/** `rows`: what the database has pinned of each account. */
export const checkAccounts = async (config: Config, rows: readonly AccountRow[]): Promise<Check[]> => {
  const accounts = openAccounts(config)
  const checks: Check[] = []
  for (const account of accounts.all) {
    const row = rows.find((each) => each.account === account.name) ?? null
    checks.push(...(account.client === null ? withoutKey(account, row) : await withKey(account, row)))
  }
  return checks
}

const withoutKey = ({ name }: StripeAccount, row: AccountRow | null): Check[] =>
  row?.stripe_account_id == null
    ? [
        note(
          `account ${name}: no API key: decided from payloads alone (payload mode); set STRIPE_API_KEY to read Stripe`,
        ),
      ]
    : [
        fail(
          `account ${name}: no API key here, but it once had one (${row.stripe_account_id}): workers without it leave it alone; set STRIPE_API_KEY for workers`,
        ),
      ]

const withKey = async (account: StripeAccount, row: AccountRow | null): Promise<Check[]> => {
  const { name, livemode } = account
  const mode = ok(`account ${name}: API key of ${livemode === true ? 'live' : 'test'} mode`)
  let answers: AccountAnswers
  try {
    answers = await askAccount(account)
  } catch {
    return [mode, fail(`account ${name}: Stripe cannot be reached: check the network and STRIPE_API_BASE`)]
  }
  return [mode, whose(account, row, answers), ...scopesOf(account, answers), ...endpointsOf(account, answers)]
}

const whose = ({ name }: StripeAccount, row: AccountRow | null, { id }: AccountAnswers): Check => {
  if (id === null) return fail(`account ${name}: Stripe refuses the key: put a valid one into STRIPE_API_KEY`)
  const pinned = row?.stripe_account_id ?? null
  return pinned === null || pinned === id
    ? ok(`account ${name}: the key belongs to ${id}`)
    : fail(
        `account ${name}: the key belongs to ${id}, but ${pinned} was served before: put the right key back`,
      )
}

const scopesOf = ({ name }: StripeAccount, { scopes }: AccountAnswers): Check[] => {
  const missing = scopes
    .filter(({ answer }) => answer === 'permission_missing')
    .map(({ resource }) => resource)
  const silent = scopes.filter(({ answer }) => answer !== 'ok' && answer !== 'permission_missing')
  const needed = missing.filter((resource) => resource !== 'webhook endpoints')
  return [
    needed.length === 0
      ? ok(`account ${name}: the key may read what is needed`)
      : fail(
          `account ${name}: the key may not read ${needed.join(', ')}: give it read access in the Dashboard`,
        ),
    ...(missing.includes('webhook endpoints')
      ? [note(`account ${name}: the key may not list webhook endpoints, so they cannot be checked`)]
      : []),
    ...silent.map(({ resource, answer }) =>
      fail(`account ${name}: ${resource} could not be read: ${answer}`),
    ),
  ]
}

const endpointsOf = ({ name }: StripeAccount, { endpoints }: AccountAnswers): Check[] => {
  if (endpoints === null) return []
  const ours = endpoints.filter(({ url }) => /\/webhooks\/stripe(\/|$)/.test(url))
  if (ours.length === 0)
    return [
      note(
        `account ${name}: Stripe has no endpoint …/webhooks/stripe: make one, unless something else forwards to us`,
      ),
    ]
  return ours.flatMap(({ url, enabled, types, apiVersion }) => [
    enabled
      ? ok(`account ${name}: endpoint ${url} is enabled`)
      : fail(`account ${name}: endpoint ${url} is disabled: enable it, then run \`catchup --store\``),
    ...typesOf(name, url, types),
    ...versionOf(name, url, apiVersion),
  ])
}

const typesOf = (name: string, url: string, types: readonly string[]): Check[] => {
  if (types.includes('*')) return [note(`account ${name}: endpoint ${url} gets all types; most are ignored`)]
  const without = (wanted: readonly string[]) => wanted.filter((type) => !types.includes(type))
  const needed = without(NEEDED_TYPES)
  if (needed.length > 0)
    return [fail(`account ${name}: endpoint ${url} does not get ${needed.join(', ')}: add these types`)]
  const useful = without(WORKED_TYPES)
  return useful.length === 0
    ? [ok(`account ${name}: endpoint ${url} gets every type that is worked`)]
    : [
        note(
          `account ${name}: endpoint ${url} does not get ${useful.join(', ')}: the catch-up sweep fetches these late`,
        ),
      ]
}

const versionOf = (name: string, url: string, apiVersion: string | null): Check[] =>
  apiVersion === null || apiVersion === SDK_API_VERSION
    ? []
    : [
        note(
          `account ${name}: endpoint ${url} speaks ${apiVersion}, reads speak ${SDK_API_VERSION}; both are understood`,
        ),
      ]

const ANSWER_MS = 3 * SECOND_MS

/** Posts an event of a type that is ignored to the service on this machine, signed with each account's own secret. */
export const checkDeliveries = async (config: Config, now: () => Instant): Promise<Check[]> => {
  const host = config.host === '0.0.0.0' ? '127.0.0.1' : config.host
  const checks: Check[] = []
  for (const account of config.accounts) {
    if (account.webhookSecrets.length === 0) continue
    checks.push(
      await deliver(`http://${host}:${config.port}/webhooks/stripe/${account.name}`, account, now()),
    )
  }
  return checks
}

const deliver = async (
  url: string,
  { name, webhookSecrets, livemode }: AccountConfig,
  now: Instant,
): Promise<Check> => {
  const body = JSON.stringify({
    id: `evt_goodstanding_doctor_${now}`,
    object: 'event',
    type: 'goodstanding.doctor',
    livemode: livemode ?? false,
    created: Math.floor(now / SECOND_MS),
    data: { object: {} },
  })
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'stripe-signature': signatureHeader({ body, secret: webhookSecrets[0]?.reveal() ?? '', now }),
      },
      body,
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    return response.status === 200
      ? ok(
          `account ${name}: a test event, signed with its secret, was accepted at ${url} (stored as ignored)`,
        )
      : fail(
          `account ${name}: a test event was answered ${response.status} at ${url}: do service and doctor have the same secrets?`,
        )
  } catch {
    return note(`account ${name}: nothing answers at ${url}, so no test event was sent`)
  }
}
