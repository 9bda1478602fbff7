// Every environment variable: what it is, what it may be, what it is without. The README's table, env.example and
// all complaints are made from this one schema. A variable that is set to nothing counts as unset.
import { z } from 'zod'
import { LOG_LEVELS } from './log.ts'
import { Secret } from './secret.ts'

type About = {
  /** One sentence for the table. */
  description: string
  /** Continues "expected …". */
  expects: string
  /** Never shown, and also read from the file that NAME_FILE names. */
  secret?: true
  /** Shown as the default where it is not a plain value. */
  without?: string
}

const ROLES = ['all', 'web', 'worker'] as const
export const STRIPE_API = 'https://api.stripe.com'
const SECRETS_MAX = 8

const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max))
const secret = z
  .string()
  .regex(/^\S+$/)
  .transform((value) => new Secret(value))
const loopback = new Set(['127.0.0.1', 'localhost', '[::1]'])

/** A comma-separated list of webhook signing secrets; several are accepted at once while one is replaced. */
export const webhookSecrets = z
  .string()
  .transform((list) =>
    list
      .split(',')
      .map((piece) => piece.trim())
      .filter((piece) => piece !== ''),
  )
  .pipe(
    z
      .array(z.string().regex(/^whsec_\S+$/))
      .min(1)
      .max(SECRETS_MAX),
  )
  .transform((pieces) => pieces.map((piece) => new Secret(piece)))

// A key must never travel to a host that is neither Stripe's nor this machine.
const apiBase = z
  .string()
  .transform((value) => value.replace(/\/$/, ''))
  .refine((value) => value === STRIPE_API || isLoopback(value))

const isLoopback = (value: string): boolean => {
  const url = URL.parse(value)
  return url !== null && /^https?:$/.test(url.protocol) && loopback.has(url.hostname) && value === url.origin
}

const about = <S extends z.ZodType>(schema: S, facts: About): S => schema.meta(facts)

export const environment = z.object({
  DATABASE_URL: about(
    z
      .string()
      .regex(/^postgres(ql)?:\/\/\S+$/)
      .transform((url) => new Secret(url))
      .optional(),
    {
      description: 'PostgreSQL 15 or newer. Unset: an embedded one in `.data/`, for a first look only.',
      expects: 'a postgres:// URL',
      secret: true,
      without: 'embedded PostgreSQL',
    },
  ),
  DATABASE_POOLED: about(z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] }).default(false), {
    description: '`true` behind a transaction pooler (PgBouncer): no named statements, no LISTEN.',
    expects: 'true or false',
  }),
  HOST: about(
    z
      .string()
      .regex(/^[\w.:[\]-]+$/)
      .default('127.0.0.1'),
    {
      description: 'Address to listen on; `0.0.0.0` in a container.',
      expects: 'an address or host name',
    },
  ),
  PORT: about(whole(0, 65_535).default(8_787), {
    description: 'Webhooks and API. 0 takes any free port.',
    expects: 'a port, 0 to 65535',
  }),
  API_PORT: about(whole(0, 65_535).optional(), {
    description:
      'Serves the API on a port of its own, so that PORT can face the internet with webhooks only.',
    expects: 'a port, 0 to 65535, other than PORT',
    without: 'same as PORT',
  }),
  METRICS_PORT: about(whole(0, 65_535).optional(), {
    description: 'Serves `/metrics` and health on a private port.',
    expects: 'a port, 0 to 65535, other than PORT and API_PORT',
    without: 'none',
  }),
  ROLE: about(z.enum(ROLES).default('all'), {
    description: '`web` receives and answers, `worker` settles events, `all` does both.',
    expects: 'all, web or worker',
  }),
  STRIPE_WEBHOOK_SECRETS: about(webhookSecrets.optional(), {
    description: 'Signing secrets of the webhook endpoint, comma-separated; each is accepted.',
    expects: `1 to ${SECRETS_MAX} signing secrets (whsec_…), comma-separated`,
    secret: true,
    without: 'required where ROLE includes web, unless ACCOUNTS_FILE is set',
  }),
  STRIPE_API_KEY: about(secret.optional(), {
    description:
      'A (restricted) API key with read access. Without one, the payloads of events decide (payload mode).',
    expects: 'a Stripe API key without blanks',
    secret: true,
    without: 'none',
  }),
  STRIPE_MODE: about(z.enum(['test', 'live']).optional(), {
    description: 'Test or real money. Without it and without a key the first verified event decides.',
    expects: 'test or live',
    without: "from the key's prefix",
  }),
  STRIPE_API_BASE: about(apiBase.default(STRIPE_API), {
    description: 'Where Stripe is: its own address, or a double on this machine.',
    expects: `${STRIPE_API}, or http(s)://127.0.0.1:PORT (localhost, [::1]) without a path`,
  }),
  STRIPE_REQUESTS_PER_SECOND: about(whole(1, 10_000).default(20), {
    description: 'Most calls a second per account and endpoint, all processes together.',
    expects: 'a whole number, 1 to 10000',
  }),
  ACCOUNTS_FILE: about(z.string().optional(), {
    description: 'JSON with more than one Stripe account: name, mode, Connect account id, secrets, key.',
    expects: 'a path',
    without: 'one account, `default`',
  }),
  CATALOG_FILE: about(z.string().default('./catalog.json'), {
    description: 'Plans, features and the prices that grant them; an example stands in `deploy/`.',
    expects: 'a path',
  }),
  API_TOKENS_FILE: about(z.string().optional(), {
    description: 'JSON with the hashes of API tokens; `goodstanding token create` adds one.',
    expects: 'a path',
    without: 'none: the API refuses everyone',
  }),
  STRIPE_RECONCILIATION_POLL_MS: about(whole(1_000, 60_000).default(5_000), {
    description: 'How often an idle worker looks for due events; NOTIFY wakes it earlier where that works.',
    expects: 'milliseconds, 1000 to 60000',
  }),
  STRIPE_RECONCILIATION_BATCH_SIZE: about(whole(1, 25).default(10), {
    description: 'Most events that one worker process settles at once.',
    expects: 'a whole number, 1 to 25',
  }),
  RECOVERY_OBJECTIVE_SECONDS: about(whole(10, 86_400).default(300), {
    description: 'Oldest age of a pending event that is still in order; beyond it there is an alert.',
    expects: 'seconds, 10 to 86400',
  }),
  PAYLOAD_RETENTION_DAYS: about(whole(31, 3_650).default(90), {
    description:
      'How long the bodies of settled events are kept; their rows stay, so that a late copy is still known.',
    expects: 'days, 31 to 3650 (Stripe delivers and lists events for 30)',
  }),
  WEBHOOK_ACK: about(z.enum(['received', 'applied']).default('received'), {
    description:
      'When Stripe gets its 200: as soon as the event is stored, or after its effect (a second net: failed attempts are answered 500 and Stripe retries, too).',
    expects: 'received or applied',
  }),
  WEBHOOK_ACK_WAIT_MS: about(whole(500, 20_000).default(8_000), {
    description: 'With WEBHOOK_ACK=applied: how long an answer waits for the effect.',
    expects: 'milliseconds, 500 to 20000 (Stripe gives up after some 20 s)',
  }),
  DRIFT_INTERVAL_HOURS: about(whole(0, 168).default(24), {
    description: 'How often a whole account is compared with Stripe; 0: never.',
    expects: 'hours, 0 to 168',
  }),
  DRIFT_MAX_REVOCATIONS: about(whole(0, 1_000_000).optional(), {
    description: 'Most customers who may lose access by one comparison without a person having approved it.',
    expects: 'a whole number',
    without: '5, or 1 % of tenants if that is more',
  }),
  LOG_LEVEL: about(z.enum(LOG_LEVELS).default('info'), {
    description: 'Least severe level that is logged.',
    expects: LOG_LEVELS.join(', '),
  }),
})

export type Environment = z.infer<typeof environment>
export type VariableName = keyof Environment

export type Variable = {
  name: VariableName
  description: string
  expects: string
  secret: boolean
  /** The default as people read it. */
  default: string
}

/** Every variable, in the order of the table. */
export const VARIABLES: readonly Variable[] = Object.entries(environment.shape).map(([name, schema]) => {
  const facts = schema.meta() as About
  return {
    name: name as VariableName,
    description: facts.description,
    expects: facts.expects,
    secret: facts.secret ?? false,
    default: facts.without ?? String(schema.safeParse(undefined).data),
  }
})
