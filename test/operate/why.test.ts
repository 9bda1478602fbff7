// `why`, as a table of facts and sentences; and as an operator asks it, now and of the past.
import { describe, expect, test } from 'vitest'
import { believedAt } from '../../src/operate/believed.ts'
import type { WhyCustomer, WhyFacts, WhySource } from '../../src/operate/why-facts.ts'
import { explain } from '../../src/operate/why.ts'

const NOW = Date.parse('2027-01-01T00:00:00Z')
const customer: WhyCustomer = {
  account: 'default',
  customerId: 'cus_1',
  linkedBy: 'checkout',
  deleted: false,
  readAt: NOW,
  evidenceAt: null,
  accountState: 'runs',
  subscriptions: [
    { id: 'sub_1', status: 'active', items: [{ priceId: 'price_pro', plan: 'pro', ignored: false }] },
  ],
  newestEvent: { eventId: 'evt_1', type: 'invoice.paid', status: 'processed', reason: null },
  waiting: 0,
  dead: 0,
  findings: [],
  live: { kind: 'agrees' },
}
const source: WhySource = {
  account: 'default',
  customerId: 'cus_1',
  subscriptionId: 'sub_1',
  feature: 'sso',
  plan: 'pro',
  state: 'active',
  granted: true,
  stale: false,
  held: false,
  finalAt: null,
  recheckAt: NOW + 1_000,
  because: { rule: 'active' },
}
const facts: WhyFacts = {
  tenant: 'acme',
  feature: 'sso',
  tenantKnown: true,
  verdict: { allowed: true, value: true, source: 'stripe', until: null },
  customers: [customer],
  sources: [source],
  overrides: [],
  catalog: { hash: 'abcdef', defaultPlan: 'free', plansWith: ['pro'], defaultGives: false },
  revocationsHeldUntil: null,
}
const denied = { allowed: false, value: null, source: null, until: null }
const of = (also: Partial<WhyCustomer>): WhyFacts => ({
  ...facts,
  verdict: denied,
  customers: [{ ...customer, ...also }],
})
const subscriptionOf = (status: string, plan: string | null = 'pro') => [
  { id: 'sub_1', status, items: [{ priceId: 'price_x', plan, ignored: false }] },
]

test('all in order: allowed, nothing to look at, every link holds', () => {
  const why = explain(facts)

  expect(why.sentence).toBe('acme may use sso: a subscription gives it.')
  expect(why.first).toBeNull()
  expect(why.chain.map(({ link }) => link)).toEqual([
    'tenant',
    'account',
    'customer',
    'subscription',
    'price',
    'access',
    'event',
    'live',
    'catalog',
  ])
})

describe('the first link that fails', () => {
  test.each<[string, WhyFacts, string, RegExp]>([
    [
      'nobody of that name',
      { ...facts, verdict: denied, tenantKnown: false, customers: [] },
      'tenant',
      /Nobody ever named/,
    ],
    ['no customer', { ...facts, verdict: denied, customers: [] }, 'tenant', /No Stripe customer is linked/],
    [
      'a denial by hand',
      {
        ...facts,
        verdict: denied,
        overrides: [{ id: 3, effect: 'deny', value: null, until: null, operator: 'ada', reason: 'fraud' }],
      },
      'override',
      /ada denied it for good \(grant 3\): fraud/,
    ],
    ['an account in hold', of({ accountState: 'hold' }), 'account', /does not run \(hold\)/],
    ['never read', of({ readAt: null }), 'customer', /was never read/],
    ['deleted at Stripe', of({ deleted: true }), 'customer', /was deleted/],
    ['no subscription', of({ subscriptions: [] }), 'subscription', /has no subscription/],
    ['canceled', of({ subscriptions: subscriptionOf('canceled') }), 'subscription', /sub_1 is canceled/],
    [
      'unpaid',
      of({ subscriptions: subscriptionOf('unpaid') }),
      'subscription',
      /unpaid: access is suspended/,
    ],
    [
      'a status of tomorrow',
      of({ subscriptions: subscriptionOf('dozing') }),
      'subscription',
      /unknown status dozing/,
    ],
    [
      'an unmapped price',
      of({ subscriptions: subscriptionOf('active', null) }),
      'price',
      /price_x is in no plan/,
    ],
    [
      'grace that is over',
      {
        ...facts,
        verdict: denied,
        sources: [
          {
            ...source,
            granted: false,
            state: 'suspended',
            because: { rule: 'grace_over', graceEndsAt: '2026-12-30T00:00:00Z' },
          },
        ],
      },
      'access',
      /days of grace are over, grace until 2026-12-30/,
    ],
    [
      'a plan without the feature',
      { ...facts, verdict: denied, sources: [{ ...source, feature: '$plan', plan: 'basic' }] },
      'access',
      /The plan basic of sub_1 does not give sso/,
    ],
    [
      'an event that waits',
      of({
        newestEvent: { eventId: 'evt_2', type: 'x', status: 'pending', reason: 'unmapped_stripe_price' },
      }),
      'event',
      /evt_2 \(x\) is pending \(unmapped_stripe_price\)/,
    ],
    [
      'Stripe says otherwise',
      of({ live: { kind: 'differs', would: 'gains sso (true)' } }),
      'live',
      /gains sso/,
    ],
    [
      'no plan has it',
      {
        ...facts,
        verdict: denied,
        catalog: { hash: 'abcdef', defaultPlan: 'free', plansWith: [], defaultGives: false },
      },
      'catalog',
      /no plan gives sso/,
    ],
    ['no catalog', { ...facts, verdict: denied, catalog: null }, 'catalog', /No catalog/],
  ])('%s', (_, given, link, says) => {
    const { first, sentence } = explain(given)

    expect(first?.link).toBe(link)
    expect(first?.says).toMatch(says)
    expect(sentence).toMatch(given.verdict.allowed ? /^acme may use sso/ : /^acme may not use sso: /)
  })
})

describe('what was believed', () => {
  const row = (after: Record<string, unknown> | null, recorded = NOW - 5_000) => ({
    account: 'default',
    customer_id: 'cus_1',
    item_id: 'si_1',
    feature: 'sso',
    after,
    recorded_at: recorded,
    cause: 'evt_1',
  })
  const gave = { granted: true, value: true, plan: 'pro', subscription_id: 'sub_1', state: 'active' }
  const at = { tenant: 'acme', feature: 'sso', at: NOW, overrides: [], catalog: null }

  test.each<[string, Record<string, unknown> | null, boolean, RegExp]>([
    ['it was given then', gave, true, /pro of sub_1 gave it \(true\): active/],
    ['it had ended by then', { ...gave, final_at: '2026-12-31T00:00:00Z' }, false, /did not give it/],
    ['it ended later', { ...gave, final_at: '2027-01-02T00:00:00Z' }, true, /gave it/],
    ['it had not begun', { ...gave, from_at: '2027-01-02T00:00:00Z' }, false, /did not give it/],
    [
      'it was past its recheck end',
      { ...gave, recheck_at: '2026-12-31T00:00:00Z' },
      true,
      /not read since \(stale\)/,
    ],
    [
      'it was suspended',
      { ...gave, granted: false, state: 'suspended' },
      false,
      /did not give it: suspended/,
    ],
    ['it had been removed', null, false, /si_1 had stopped giving it/],
  ])('then: %s', (_, after, allowed, says) => {
    const why = believedAt({ ...at, rows: [row(after)] })

    expect(why.allowed).toBe(allowed)
    expect(why.chain[0]?.says).toMatch(says)
    expect(why.sentence).toMatch(/^At 2027-01-01T00:00:00.000Z it was believed that acme might/)
  })

  test('a denial of then comes first, and what nobody had given is denied', () => {
    const deny = { id: 1, effect: 'deny' as const, value: null, until: null, operator: 'ada', reason: 'x' }

    expect(believedAt({ ...at, rows: [row(gave)], overrides: [deny] }).allowed).toBe(false)
    expect(believedAt({ ...at, rows: [] })).toMatchObject({ allowed: false, value: null })
  })
})
