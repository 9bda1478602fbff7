// The catalog file: which plan a price buys and what a plan gives. It must say of a wrong file what is wrong and
// where, all of it at once; and a price that nothing names is "unmapped", never the default plan.
import { z } from 'zod'
import type { Item } from './model.ts'

const NAME = /^[a-z][a-z0-9_.-]{0,63}$/i
const MERGES = ['or', 'max', 'sum', 'rank'] as const
// Ranks are stored as int4, days become intervals.
const INT4_MAX = 2_147_483_647
const MAX_DAYS = 3_650

const days = z.number().min(0).max(MAX_DAYS)
const name = z.string().regex(NAME, 'is no name: a letter, then letters, digits and . _ - (64 at most)')
const PRICE =
  /^(?:lookup:\S.{0,199}|product:[\x21-\x7e]{1,255}|(?!lookup:|product:)[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?)$/
const priceRef = z.string().regex(PRICE, 'is no price id, lookup:KEY or product:ID')

const text = z
  .string()
  .max(255)
  .regex(/^\P{Cc}*$/u, 'holds control characters')

const feature = z.union([
  z.boolean(),
  z.number().min(0),
  text,
  z.strictObject({ from: z.literal('quantity').describe('The quantity of the subscription item.') }),
])

const plan = z.strictObject({
  rank: z
    .number()
    .int()
    .min(-INT4_MAX)
    .max(INT4_MAX)
    .describe('Of several plans the highest rank gives the name.'),
  description: text.optional(),
  addon: z.boolean().default(false).describe('Sold beside another plan: two at once are no double billing.'),
  prices: z.array(priceRef).default([]),
  features: z.record(name, feature).default({}),
})

const schema = z.strictObject({
  $schema: z.string().optional(),
  default: name.describe('The plan of a tenant to whom nothing is granted. It has no prices.'),
  graceDays: days.default(7).describe('Days of access after money is owed (past_due).'),
  graceAfterTrial: days
    .optional()
    .describe('The same for those who never paid: their first period after a trial.'),
  staleGraceHours: z
    .number()
    .min(0)
    .max(MAX_DAYS * 24)
    .default(72)
    .describe('Hours for which access stays when Stripe should have been read again and could not be.'),
  pendingFirstPayment: z
    .enum(['deny', 'allow'])
    .default('deny')
    .describe('Access while the first payment is incomplete (delayed payment methods).'),
  pausedCollection: z
    .strictObject({ void: z.enum(['allow', 'suspend']).default('allow') })
    .prefault({})
    .describe('Access past the paid period while invoices are voided.'),
  subscriptions: z
    .enum(['quarantine', 'union'])
    .default('quarantine')
    .describe('Two live subscriptions of one customer: ask a person, or give what any of them gives.'),
  ignoredPrices: z.array(priceRef).default([]).describe('Prices that buy nothing here.'),
  plans: z.record(name, plan),
  features: z
    .record(name, z.strictObject({ merge: z.enum(MERGES).optional(), description: text.optional() }))
    .default({})
    .describe(
      "How a feature is merged when several items give it: any, the largest, the sum, the highest rank's.",
    ),
})

/** The file with its defaults filled in: plain data. */
export type Catalog = z.output<typeof schema>

/**
 * How the values that several items give of one feature become one: `or` of booleans, `max` or `sum` of numbers,
 * `rank`: the value of the highest rank.
 */
export type Merge = (typeof MERGES)[number]

export type Parsed = { kind: 'catalog'; catalog: Catalog } | { kind: 'invalid'; problems: string[] }

export type Mapping =
  | { kind: 'plan'; plan: string; by: 'price' | 'memory' | 'lookup' | 'product' }
  | { kind: 'ignored' }
  | { kind: 'unmapped' }

/** The catalog in the text of a `catalog.json`, or everything that is wrong with it, each with its path. */
export const parseCatalog = (text: string): Parsed => {
  const json = jsonOf(text)
  if (json.kind === 'invalid') return json
  const parsed = schema.safeParse(json.value)
  if (!parsed.success)
    return { kind: 'invalid', problems: parsed.error.issues.flatMap((issue) => told(issue, [])) }
  const { $schema: _, ...catalog } = parsed.data
  const problems = [
    ...defaultPlanProblems(catalog),
    ...rankProblems(catalog),
    ...priceProblems(catalog),
    ...mergeProblems(catalog),
  ]
  return problems.length === 0 ? { kind: 'catalog', catalog } : { kind: 'invalid', problems }
}

/**
 * The plan that an item's price buys: by price id, then by the mapping remembered for that price (a lookup key can
 * move to a newer price), then lookup key, then product. `remembered`: price id -> plan; a plan that is gone is
 * skipped.
 */
export const mapPrice = (catalog: Catalog, remembered: Record<string, string>, item: Item): Mapping => {
  const named = (ref: string, by: 'price' | 'lookup' | 'product'): Mapping | null => {
    const found = Object.entries(catalog.plans).find(([, { prices }]) => prices.includes(ref))
    if (found !== undefined) return { kind: 'plan', plan: found[0], by }
    return catalog.ignoredPrices.includes(ref) ? { kind: 'ignored' } : null
  }
  const memory = remembered[item.priceId]
  return (
    named(item.priceId, 'price') ??
    (memory !== undefined && Object.hasOwn(catalog.plans, memory)
      ? { kind: 'plan', plan: memory, by: 'memory' }
      : null) ??
    (item.lookupKey === null ? null : named(`lookup:${item.lookupKey}`, 'lookup')) ??
    (item.productId === null ? null : named(`product:${item.productId}`, 'product')) ?? { kind: 'unmapped' }
  )
}

/** How a feature is merged: as declared, else by its values: booleans `or`, numbers `max`, quantities `sum`, text `rank`. */
export const mergeOf = (catalog: Catalog, featureName: string): Merge => {
  const declared = Object.hasOwn(catalog.features, featureName)
    ? catalog.features[featureName]?.merge
    : undefined
  if (declared !== undefined) return declared
  const values = valuesOf(catalog, featureName).map(({ value }) => value)
  if (values.some((value) => typeof value === 'object')) return 'sum'
  if (values.some((value) => typeof value === 'number')) return 'max'
  return values.some((value) => typeof value === 'string') || featureName === '$plan' ? 'rank' : 'or'
}

/** A catalog as it was stored when it came into force. */
export const catalogOf = (body: unknown): Catalog => schema.parse(body)

/** JSON Schema of the file, for editors. */
export const catalogJsonSchema = (): object => z.toJSONSchema(schema, { io: 'input' })

type Problems = string[]
type FeatureInFile = z.output<typeof feature>
type Given = { plan: string; value: FeatureInFile }

const valuesOf = (catalog: Catalog, featureName: string): Given[] =>
  Object.entries(catalog.plans).flatMap(([planName, { features }]) => {
    const value = Object.hasOwn(features, featureName) ? features[featureName] : undefined
    return value === undefined ? [] : [{ plan: planName, value }]
  })

const defaultPlanProblems = (catalog: Catalog): Problems => {
  const path = `plans.${catalog.default}`
  const plan = Object.hasOwn(catalog.plans, catalog.default) ? catalog.plans[catalog.default] : undefined
  if (plan === undefined) return [`default: there is no plan "${catalog.default}"`]
  const counted = Object.entries(plan.features).filter(([, value]) => typeof value === 'object')
  return [
    ...(plan.prices.length > 0 ? [`${path}.prices: the default plan is not for sale`] : []),
    ...counted.map(([key]) => `${path}.features.${key}: the default plan has no quantity`),
  ]
}

const rankProblems = (catalog: Catalog): Problems =>
  twice(Object.entries(catalog.plans).map(([key, { rank }]) => ({ path: `plans.${key}.rank`, value: rank })))

const priceProblems = (catalog: Catalog): Problems => {
  const at = (path: string) => (value: string, index: number) => ({ path: `${path}.${index}`, value })
  return twice([
    ...Object.entries(catalog.plans).flatMap(([key, { prices }]) => prices.map(at(`plans.${key}.prices`))),
    ...catalog.ignoredPrices.map(at('ignoredPrices')),
  ])
}

const twice = (places: { path: string; value: string | number }[]): Problems =>
  places.flatMap(({ path, value }, index) => {
    const first = places.findIndex((place) => place.value === value)
    return first === index ? [] : [`${path}: ${JSON.stringify(value)} is already at ${places[first]?.path}`]
  })

const kindOf = (value: FeatureInFile) => (typeof value === 'object' ? 'number' : typeof value)

const mergeProblems = (catalog: Catalog): Problems => {
  const given = Object.values(catalog.plans).flatMap(({ features }) => Object.keys(features))
  return [...new Set([...given, ...Object.keys(catalog.features)])].flatMap((key) => {
    const [first, ...others] = valuesOf(catalog, key)
    if (first === undefined) return []
    const kind = kindOf(first.value)
    const mixed = others
      .filter(({ value }) => kindOf(value) !== kind)
      .map(
        ({ plan, value }) =>
          `plans.${plan}.features.${key}: ${kindOf(value)}, but ${kind} in plans.${first.plan}`,
      )
    const merge = mergeOf(catalog, key)
    const fits = merge === 'rank' || kind === (merge === 'or' ? 'boolean' : 'number')
    return fits || mixed.length > 0 ? mixed : [`features.${key}.merge: "${merge}" does not merge a ${kind}`]
  })
}

const jsonOf = (text: string): { kind: 'json'; value: unknown } | { kind: 'invalid'; problems: Problems } => {
  try {
    return { kind: 'json', value: JSON.parse(text) }
  } catch (error) {
    return {
      kind: 'invalid',
      problems: [`not JSON: ${error instanceof Error ? error.message : 'unreadable'}`],
    }
  }
}

/** One issue of zod's as sentences that begin with a path. */
const told = (issue: z.core.$ZodIssue, base: PropertyKey[]): Problems => {
  const path = [...base, ...issue.path]
  const where = path.length === 0 ? 'the file' : path.join('.')
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${[...path, key].join('.')}: is not known here`)
  if (issue.code === 'invalid_key') return issue.issues.map((each) => `${where}: ${each.message}`)
  if (issue.code === 'invalid_value')
    return [`${where}: expected ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`]
  if (issue.code === 'invalid_union') {
    // The branch that accepts the value's type is the one that was meant.
    const meant = issue.errors.find(
      (branch) => !branch.some((each) => each.path.length === 0 && each.code === 'invalid_type'),
    )
    const nothing = `${where}: expected a boolean, a number, a text or { "from": "quantity" }`
    return meant?.flatMap((each) => told(each, path)) ?? [nothing]
  }
  const message = issue.message.replace(/^(Invalid input|Too small|Too big): /, '')
  return [`${where}: ${message.replace(', received undefined', ', is missing')}`]
}
