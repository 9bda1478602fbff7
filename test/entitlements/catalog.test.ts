// The catalog file and its problems: rules.md, section 10.
import { expect, test } from 'vitest'
import { catalogJsonSchema, parseCatalog } from '../../src/entitlements/catalog.ts'
import { CATALOG_FILE, aCatalog } from './builders.ts'

const problemsOf = (file: unknown): string[] => {
  const parsed = parseCatalog(JSON.stringify(file))
  return parsed.kind === 'invalid' ? parsed.problems : []
}

const withPlans = (plans: object) => ({ ...CATALOG_FILE, plans: { ...CATALOG_FILE.plans, ...plans } })
const withPro = (given: object) => withPlans({ pro: { ...CATALOG_FILE.plans.pro, ...given } })

test('the catalog of the rules is valid', () => {
  const text = `{
    "default": "free", "graceDays": 7, "subscriptions": "union",
    "plans": {
      "free":  { "rank": 0,  "features": {} },
      "basic": { "rank": 10, "prices": ["price_basic"], "features": { "export": true } },
      "pro":   { "rank": 20, "prices": ["price_pro", "lookup:pro_yearly", "product:prod_pro"],
                 "features": { "export": true, "sso": true, "seats": { "from": "quantity" } } }
    }
  }`

  expect(parseCatalog(text)).toMatchObject({
    kind: 'catalog',
    catalog: { default: 'free', plans: { pro: { features: { seats: { from: 'quantity' } } } } },
  })
})

test('what the file leaves out has a documented default', () => {
  const parsed = parseCatalog(
    '{ "$schema": "./catalog.schema.json", "default": "free", "plans": { "free": { "rank": 0 } } }',
  )

  expect(parsed).toEqual({
    kind: 'catalog',
    catalog: {
      default: 'free',
      graceDays: 7,
      staleGraceHours: 72,
      pendingFirstPayment: 'deny',
      pausedCollection: { void: 'allow' },
      subscriptions: 'quarantine',
      ignoredPrices: [],
      plans: { free: { rank: 0, addon: false, prices: [], features: {} } },
      features: {},
    },
  })
})

test('every option of the file is kept', () => {
  const given = {
    graceDays: 3,
    staleGraceHours: 24,
    graceAfterTrial: 1,
    pendingFirstPayment: 'allow',
    pausedCollection: { void: 'suspend' },
    ignoredPrices: ['price_gift'],
    features: { seats: { merge: 'max', description: 'People who may sign in' } },
  }

  expect(aCatalog(given)).toMatchObject(given)
})

test.each([
  ['a misspelt option', { ...CATALOG_FILE, graceDay: 7 }, 'graceDay: is not known here'],
  ['a misspelt key of a plan', withPro({ price: [] }), 'plans.pro.price: is not known here'],
  [
    'another source than quantity',
    withPro({ features: { seats: { from: 'users' } } }),
    'plans.pro.features.seats.from: expected "quantity"',
  ],
  [
    'a feature that is null',
    withPro({ features: { sso: null } }),
    'plans.pro.features.sso: expected a boolean, a number, a text or { "from": "quantity" }',
  ],
  [
    'a feature below zero',
    withPro({ features: { api: -1 } }),
    'plans.pro.features.api: expected number to be >=0',
  ],
  [
    'a text with a NUL',
    withPro({ features: { tier: 'a\u0000' } }),
    'plans.pro.features.tier: holds control characters',
  ],
  [
    'a feature that begins with $',
    withPro({ features: { $plan: 'x' } }),
    'plans.pro.features.$plan: is no name: a letter, then letters, digits and . _ - (64 at most)',
  ],
  [
    'a feature name of 65 letters',
    withPro({ features: { ['x'.repeat(65)]: true } }),
    `plans.pro.features.${'x'.repeat(65)}: is no name: a letter, then letters, digits and . _ - (64 at most)`,
  ],
  [
    'a rank that is missing',
    withPlans({ pro: { features: {} } }),
    'plans.pro.rank: expected number, is missing',
  ],
  ['a rank that is no integer', withPro({ rank: 1.5 }), 'plans.pro.rank: expected int, received number'],
  ['two plans of one rank', withPro({ rank: 10 }), 'plans.pro.rank: 10 is already at plans.basic.rank'],
  [
    'a price in two plans',
    withPro({ prices: ['price_basic'] }),
    'plans.pro.prices.0: "price_basic" is already at plans.basic.prices.0',
  ],
  [
    'a price that is sold and ignored',
    { ...CATALOG_FILE, ignoredPrices: ['price_pro'] },
    'ignoredPrices.0: "price_pro" is already at plans.pro.prices.0',
  ],
  [
    'a lookup without a key',
    withPro({ prices: ['lookup:'] }),
    'plans.pro.prices.0: is no price id, lookup:KEY or product:ID',
  ],
  [
    'a product without an id',
    withPro({ prices: ['product:'] }),
    'plans.pro.prices.0: is no price id, lookup:KEY or product:ID',
  ],
  [
    'an empty price',
    withPro({ prices: [''] }),
    'plans.pro.prices.0: is no price id, lookup:KEY or product:ID',
  ],
  [
    'a default that is no plan',
    { ...CATALOG_FILE, default: 'toString' },
    'default: there is no plan "toString"',
  ],
  [
    'a default plan that is sold',
    withPlans({ free: { rank: 0, prices: ['price_free'] } }),
    'plans.free.prices: the default plan is not for sale',
  ],
  [
    'a default plan with seats by quantity',
    withPlans({ free: { rank: 0, features: { seats: { from: 'quantity' } } } }),
    'plans.free.features.seats: the default plan has no quantity',
  ],
  [
    'a feature of two kinds',
    withPro({ features: { export: 5 } }),
    'plans.pro.features.export: number, but boolean in plans.basic',
  ],
  [
    'a sum of booleans',
    { ...CATALOG_FILE, features: { sso: { merge: 'sum' } } },
    'features.sso.merge: "sum" does not merge a boolean',
  ],
  [
    'an "or" of seats',
    { ...CATALOG_FILE, features: { seats: { merge: 'or' } } },
    'features.seats.merge: "or" does not merge a number',
  ],
  [
    'an unknown merge',
    { ...CATALOG_FILE, features: { seats: { merge: 'min' } } },
    'features.seats.merge: expected "or" or "max" or "sum" or "rank"',
  ],
  ['a grace below zero', { ...CATALOG_FILE, graceDays: -1 }, 'graceDays: expected number to be >=0'],
  [
    'an unknown way with subscriptions',
    { ...CATALOG_FILE, subscriptions: 'newest' },
    'subscriptions: expected "quarantine" or "union"',
  ],
  ['a list instead of an object', [], 'the file: expected object, received array'],
])('%s is named with its path', (_, file, problem) => {
  expect(problemsOf(file)).toEqual([problem])
})

test('all problems are told at once', () => {
  const file = withPlans({ pro: { rank: 'high', features: { sso: null } }, basic: { rank: 1, cost: 9 } })

  expect(
    problemsOf(file)
      .map((problem) => problem.split(':')[0])
      .toSorted((a = '', b = '') => (a < b ? -1 : 1)),
  ).toEqual(['plans.basic.cost', 'plans.pro.features.sso', 'plans.pro.rank'])
})

test('text that is no JSON is an answer, not an exception', () => {
  const parsed = parseCatalog('{ "default": ')

  expect(parsed.kind === 'invalid' && parsed.problems[0]).toMatch(/^not JSON: /)
})

test('the JSON Schema asks for what the file must have, and no more', () => {
  const schema = catalogJsonSchema() as {
    required: string[]
    properties: Record<string, { default?: unknown }>
  }

  expect(schema.required.toSorted()).toEqual(['default', 'plans'])
  expect(schema.properties['graceDays']).toMatchObject({ default: 7, minimum: 0 })
  expect(schema).toMatchObject({ additionalProperties: false })
})
