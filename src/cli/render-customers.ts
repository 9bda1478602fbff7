// Answers about customers, access and what people decided, as lines for people.
import type { DataOf } from '../operate/operations.ts'
import { toIso } from '../time.ts'
import { subscriptionText } from './render-inbox.ts'
import { listed, table } from './table.ts'

export const renderCustomer = ({ customers, tenants, grants }: DataOf<'customer-show'>): string[] => [
  ...customers.flatMap((each) => [
    `${each.customer_id} of account ${each.account} ${
      each.tenant_id === null
        ? 'belongs to no tenant.'
        : `is tenant ${each.tenant_id} (linked by ${each.linked_by}).`
    }`,
    ...(each.deleted ? ['  deleted at Stripe'] : []),
    `  last read ${toIso(each.read_at) ?? 'never'}${
      each.evidence_at === null ? '' : `, newest event of ${toIso(each.evidence_at)}`
    }; ${each.pending} events pending, ${each.dead} dead; account ${each.account_state}`,
    ...each.subscriptions.map((subscription) => `  ${subscription.id}: ${subscriptionText(subscription)}`),
    ...each.gives.map(
      (row) =>
        `  ${row.item_id} ${row.granted ? 'gives' : 'does not give'} ${row.feature} = ${String(row.value)} (${row.plan}, ${row.state}${
          row.stale ? ', stale' : ''
        })`,
    ),
    ...each.invoices.map(
      (invoice) =>
        `  ${invoice.invoice_id}: ${invoice.status}, ${invoice.amount_remaining} ${invoice.currency ?? ''} open`,
    ),
    ...each.money_back.map(
      (back) =>
        `  ${back.kind} ${back.id}: ${back.status}, ${back.amount} ${back.currency ?? ''}${
          back.invoice_id === null ? '' : `, invoice ${back.invoice_id}`
        }`,
    ),
    ...each.findings.map(({ code, subject }) => `  finding ${code} (${subject})`),
  ]),
  ...tenants.map(
    ({ tenant, plan, state, features }) =>
      `${tenant} may use now: plan ${plan} (${state}); ${
        Object.entries(features)
          .map(([name, { value, source }]) => `${name} = ${String(value)} (${source})`)
          .join(', ') || 'nothing'
      }`,
  ),
  ...(grants.length > 0 ? renderGrants(grants) : []),
]

export const renderTimeline = (data: DataOf<'customer-timeline'>): string[] =>
  table(
    ['AT', 'CUSTOMER', 'WHAT', 'SUBJECT', 'DETAIL'],
    data.map((each) => [toIso(each.at), each.customer, each.what, each.subject, each.detail]),
  )

export const renderUnlinked = (data: DataOf<'customers-unlinked'>): string[] =>
  listed(
    data,
    'Every customer for whom something waits is linked.',
    ['CUSTOMER', 'ACCOUNT', 'KNOWN SINCE', 'WAITING', 'DEAD', 'LIVE AT STRIPE'],
    (each) => [
      each.customer_id,
      each.account,
      toIso(each.since),
      each.waiting,
      each.dead,
      each.live_at_stripe ? 'yes' : '',
    ],
  )

export const renderUnmapped = ({ prices, blocked }: DataOf<'catalog-unmapped'>): string[] => [
  ...listed(
    prices,
    'Every price in use is in the catalog.',
    ['PRICE', 'ACCOUNT', 'LOOKUP KEY', 'PRODUCT', 'CUSTOMERS', 'EXAMPLE'],
    (each) => [each.price, each.account, each.lookup_key, each.product, each.customers, each.example],
  ),
  ...blocked.map(
    (each) =>
      `${each.waiting} events wait and ${each.dead} are dead for ${each.price_ids ?? 'a price'} (${each.account}, e.g. ${each.example}).`,
  ),
]

const MARKS = { true: '+', false: '!', null: ' ' } as const

export const renderWhy = ({ sentence, first, chain }: DataOf<'why'>): string[] => [
  sentence,
  ...(first === null ? [] : [`First look at: ${first.says}`]),
  ...chain.map(({ link, ok, says }) => `  ${MARKS[`${ok}`]} ${link.padEnd(12)} ${says}`),
]

export const renderGrants = (data: DataOf<'grant-list'>): string[] =>
  listed(
    data,
    'No grants by hand.',
    ['GRANT', 'TENANT', 'FEATURE', 'EFFECT', 'VALUE', 'UNTIL', 'STATE', 'BY', 'REASON'],
    (each) => [
      each.override_id,
      each.tenant_id,
      each.feature,
      each.effect,
      each.value === null ? '' : String(each.value),
      each.permanent ? 'permanent' : toIso(each.until_at),
      each.in_force ? 'in force' : each.revoked_at === null ? 'over' : 'revoked',
      each.operator,
      each.reason,
    ],
  )

export const renderDriftRuns = (data: DataOf<'drift-list'>): string[] =>
  listed(
    data,
    'No comparison was made yet.',
    ['RUN', 'ACCOUNT', 'ENDED', 'COMPARED', 'GAINS', 'LOSSES', 'BUDGET', 'STATE', 'APPROVED BY'],
    (each) => [
      each.run_id,
      each.account,
      toIso(each.ended_at),
      each.compared,
      each.gains,
      each.losses,
      each.budget,
      each.state,
      each.approved_by,
    ],
  )

export const renderDriftRun = ({ run, items }: DataOf<'drift-show'>): string[] => [
  ...renderDriftRuns([run]),
  ...table(
    ['CUSTOMER', 'KIND', 'LOSES', 'FOLLOWED', 'DETAIL'],
    items.map((each) => [
      each.customer_id,
      each.kind,
      each.loses ? 'yes' : '',
      toIso(each.healed_at),
      JSON.stringify(each.detail),
    ]),
  ),
]

export const renderDrift = ({
  account,
  compared,
  budget,
  differences,
  run,
}: DataOf<'drift-run'>): string[] => [
  `${compared} live subscriptions of account ${account} compared; ${
    differences.length === 0 ? 'no difference.' : `${differences.length} customers differ.`
  }`,
  ...(differences.length === 0
    ? []
    : table(
        ['CUSTOMER', 'KIND', 'EFFECT', 'FOLLOWING STRIPE'],
        differences.map((each) => [each.customerId, each.kind, each.effect, each.would]),
      )),
  ...(run?.state === 'waiting'
    ? [
        `${run.losses} customers would lose access, the budget is ${budget}: nobody does until \`drift approve ${run.run_id}\`.`,
      ]
    : []),
]

export const renderAudit = (data: DataOf<'audit-list'>): string[] =>
  listed(data, 'Nobody did anything.', ['AT', 'WHO', 'WHAT', 'TARGET', 'REASON', 'AFTER'], (each) => [
    toIso(each.at),
    each.operator,
    each.verb,
    each.target,
    each.reason,
    each.after === null ? '' : JSON.stringify(each.after),
  ])

export const renderReconciled = ({ settled, customers, entitlements }: DataOf<'reconcile'>): string[] => [
  `${customers.map(({ customer }) => customer).join(', ')}: ${settled ? 'read' : 'still under way'}.`,
  ...entitlements.map(({ tenant, plan, state }) => `${tenant}: plan ${plan} (${state})`),
]

export const renderVerified = (verified: DataOf<'audit-verify'>): string[] => {
  const broken = verified.filter(({ violations }) => violations.length > 0)
  return [
    ...verified.flatMap(({ promise, violations }) => [
      `${violations.length === 0 ? 'holds ' : 'BROKEN'}  ${promise}`,
      ...violations.map(({ subject, what }) => `          ${subject}: ${what}`),
    ]),
    broken.length === 0
      ? 'Everything that is promised holds.'
      : `${broken.length} of ${verified.length} promises are broken.`,
  ]
}
