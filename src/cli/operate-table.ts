// The commands of operators: which operation each runs, with which arguments and options. Their texts, checks and routes
// come from the table of operations.
import type { OperationName } from '../operate/operations.ts'

export type CommandRow = {
  path: string
  operation: OperationName
  /** Positional arguments: the operation's field, what it is, and whether it may be left out. */
  args?: [field: string, about: string][]
  /** Options, as commander writes them; each fills the field of its name. */
  options?: [flags: string, about: string][]
  example?: string
  /** Shows the event beside Stripe before it acts. */
  looks?: true
}

const ACCOUNT: [string, string] = ['--account <name>', 'of which account']
const LIMIT: [string, string] = ['--limit <n>', 'at most so many (default 50)']
const EVENT: [string, string] = ['event', 'its id, evt_…']
const WHOM: [string, string] = ['whom', 'a tenant, or the id of a customer']
const CHECKED: [string, string] = ['--checked <what>', 'what Stripe showed, where there is no API key']

/** Commands that only look. */
export const LOOKING: CommandRow[] = [
  { path: 'status', operation: 'status', example: 'status --json' },
  {
    path: 'events list',
    operation: 'events-list',
    options: [
      ACCOUNT,
      ['--customer <id>', 'of which customer'],
      ['--type <type>', 'of which type'],
      ['--reason <code>', 'with which reason code'],
      ['--state <state>', 'pending, processed or dead'],
      ['--since <time>', 'received since'],
      LIMIT,
    ],
    example: 'events list --state pending --customer cus_1',
  },
  {
    path: 'events show',
    operation: 'events-show',
    args: [EVENT],
    options: [ACCOUNT],
    example: 'events show evt_1',
  },
  {
    path: 'dead list',
    operation: 'dead-list',
    options: [ACCOUNT, ['--reason <code>', 'which died of this'], LIMIT],
  },
  {
    path: 'dead show',
    operation: 'dead-show',
    args: [EVENT],
    options: [ACCOUNT],
    example: 'dead show evt_1',
  },
  { path: 'dead groups', operation: 'dead-groups' },
  {
    path: 'customer show',
    operation: 'customer-show',
    args: [WHOM],
    options: [ACCOUNT],
    example: 'customer show acme',
  },
  { path: 'customer timeline', operation: 'customer-timeline', args: [WHOM], options: [ACCOUNT, LIMIT] },
  {
    path: 'customers list',
    operation: 'customers-unlinked',
    options: [['--unlinked', 'those of no tenant (the only list there is)'], ACCOUNT, LIMIT],
  },
  { path: 'catalog unmapped', operation: 'catalog-unmapped' },
  {
    path: 'why',
    operation: 'why',
    args: [
      ['tenant', 'as the host product names it'],
      ['feature', 'of the catalog'],
    ],
    options: [
      ['--at <time>', 'what was believed then'],
      ['--no-live', 'do not ask Stripe'],
    ],
    example: 'why acme sso --at 2027-01-31T12:00:00Z',
  },
  {
    path: 'findings list',
    operation: 'findings-list',
    options: [ACCOUNT, ['--code <code>', 'of which code'], ['--all', 'closed ones, too'], LIMIT],
  },
  {
    path: 'grant list',
    operation: 'grant-list',
    options: [['--tenant <name>', 'of whom'], ['--all', 'past ones, too'], LIMIT],
  },
  { path: 'drift list', operation: 'drift-list', options: [LIMIT] },
  { path: 'drift show', operation: 'drift-show', args: [['run', 'its number']], example: 'drift show 7' },
  {
    path: 'audit list',
    operation: 'audit-list',
    options: [['--since <time>', ''], ['--until <time>', ''], LIMIT],
  },
  { path: 'audit verify', operation: 'audit-verify' },
  { path: 'queue', operation: 'queue' },
]

/** Commands that act: signed with --operator and --reason. */
export const ACTING: CommandRow[] = [
  {
    path: 'requeue',
    operation: 'requeue',
    args: [EVENT],
    options: [ACCOUNT, CHECKED],
    looks: true,
    example: 'requeue evt_1 --operator ada --reason "price is mapped now"',
  },
  {
    path: 'resolve',
    operation: 'resolve',
    args: [EVENT],
    options: [
      ['--apply', 'what it says is right (accounts without an API key)'],
      ['--discard', 'what it says is not applied'],
      ACCOUNT,
      CHECKED,
    ],
    looks: true,
    example: 'resolve evt_1 --discard --operator ada --reason "a test that went to production"',
  },
  {
    path: 'findings ack',
    operation: 'findings-ack',
    args: [['finding', 'its number']],
    example: 'findings ack 3 --operator ada --reason "told the customer"',
  },
  {
    path: 'link',
    operation: 'link',
    args: [
      ['tenant', 'as the host product names it'],
      ['customer', 'its id, cus_…'],
    ],
    options: [['--replace', 'unlinks what stands in its way'], ACCOUNT],
    example: 'link acme cus_1 --operator ada --reason "sold by phone"',
  },
  { path: 'unlink', operation: 'unlink', args: [['customer', 'its id, cus_…']], options: [ACCOUNT] },
  {
    path: 'reconcile',
    operation: 'reconcile',
    args: [WHOM],
    options: [ACCOUNT, ['--wait <seconds>', 'at most so long (default 10)']],
  },
  {
    path: 'grant add',
    operation: 'grant-add',
    args: [
      ['tenant', 'as the host product names it'],
      ['feature', 'of the catalog'],
    ],
    options: [
      ['--value <value>', 'true (the default), a number or a text'],
      ['--deny', 'denies it instead'],
      ['--until <time>', 'ends then'],
      ['--permanent', 'has no end'],
    ],
    example: 'grant add acme sso --until 2027-02-01T00:00:00Z --operator ada --reason "goodwill"',
  },
  {
    path: 'grant revoke',
    operation: 'grant-revoke',
    args: [['grant', 'its number']],
    example: 'grant revoke 4 --operator ada --reason "no longer needed"',
  },
  {
    path: 'hold revocations',
    operation: 'hold-revocations',
    options: [['--until <time>', 'until then nobody loses access'], ACCOUNT],
    example: 'hold revocations --until 2027-01-31T18:00:00Z --operator ada --reason "Stripe answers oddly"',
  },
  {
    path: 'hold end',
    operation: 'hold-end',
    options: [ACCOUNT],
    example: 'hold end --operator ada --reason "Stripe is well again"',
  },
  {
    path: 'activate',
    operation: 'activate',
    args: [['account', 'its name']],
    example: 'activate eu --operator ada --reason "rollout checked"',
  },
  { path: 'account pause', operation: 'account-pause', args: [['account', 'its name']] },
  { path: 'account resume', operation: 'account-resume', args: [['account', 'its name']] },
  {
    path: 'drift approve',
    operation: 'drift-approve',
    args: [['run', 'its number']],
    example: 'drift approve 7 --operator ada --reason "they did cancel, see ticket 12"',
  },
  {
    path: 'erase',
    operation: 'erase',
    args: [WHOM],
    options: [ACCOUNT],
    example: 'erase cus_1 --operator ada --reason "request of 3 December"',
  },
]

/** Commands that look with one option and act with another. */
export const EITHER: { path: string; looks: CommandRow; acts: CommandRow; acting: string; about: string }[] =
  [
    {
      path: 'catchup',
      acting: '--store',
      about: 'stores what is missing',
      looks: {
        path: 'catchup',
        operation: 'catchup',
        options: [ACCOUNT, ['--days <n>', 'of the last days (default 30)']],
      },
      acts: { path: 'catchup', operation: 'catchup-store' },
    },
  ]

/** What each group of commands is about. */
export const GROUPS: Record<string, string> = {
  events: 'events of the inbox',
  dead: 'dead letters',
  customer: 'one customer or tenant',
  customers: 'customers that need a person',
  catalog: 'the catalog beside what is sold',
  findings: 'what a person should look at',
  grant: 'grants and denials by hand',
  hold: 'holds of revocations',
  drift: 'comparisons with Stripe',
  audit: 'what people did',
  account: 'the Stripe accounts that we serve',
}
