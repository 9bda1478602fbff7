// What a recorded conversation takes for granted: prices, coupons, customers and cards that were in the account before
// the recording began. They are made in the double through its API, as their recorded objects describe them.
import type { Exchange } from './exchanges.ts'
import { idsIn, prefixOf, type Glossary } from './glossary.ts'
import { fieldsIn, messageOf, textIn, type Fields } from './read.ts'

export type Post = (path: string, form: Record<string, string>) => Promise<{ body: unknown }>

type Seeding = { exchange: Exchange; glossary: Glossary; post: Post }

/** Makes what the request names, no recorded answer has brought and Stripe found. */
export const seedMissing = async ({ exchange, glossary, post }: Seeding): Promise<void> => {
  if (needsNoStage(exchange)) return
  const form = [...new URLSearchParams(exchange.form)]
  for (const [key, value] of form) {
    if (glossary.knows(value)) continue
    if (/(^|\[)(price|plan)\]?$/.test(key)) await seedPrice({ exchange, glossary, post }, { key, id: value })
    if (/(^|\[)coupon\]?$/.test(key)) await seedCoupon({ exchange, glossary, post }, value)
  }
  for (const id of idsIn(exchange)) {
    if (glossary.unknownIn(exchange) === null) return
    if (!glossary.knows(id) && !glossary.wasAnswered(id)) await seedObject({ exchange, glossary, post }, id)
  }
}

/** Refused because of what was not there, or before anyone looked. */
export const needsNoStage = ({ status, body }: Exchange): boolean =>
  status === 401 || messageOf(body).startsWith('No such ')

const seedPrice = async (
  { exchange, glossary, post }: Seeding,
  { key, id }: { key: string; id: string },
): Promise<void> => {
  const recorded = glossary.recorded(['price', 'plan'], id) ?? {}
  const recurring: Fields = fieldsIn(recorded['recurring'])
  const interval = textIn(recurring['interval']) ?? textIn(recorded['interval']) ?? 'month'
  const once =
    recorded['type'] === 'one_time' ||
    key.startsWith('add_invoice_items') ||
    new URLSearchParams(exchange.form).get('mode') === 'payment'
  const product = await post('/v1/products', { name: id })
  const price = await post('/v1/prices', {
    product: textIn(fieldsIn(product.body)['id']) ?? '',
    currency: textIn(recorded['currency']) ?? 'usd',
    unit_amount: countIn(recorded['unit_amount'] ?? recorded['amount'], 1_000),
    ...(!once && { 'recurring[interval]': interval }),
  })
  glossary.call(id, price.body)
}

const seedCoupon = async ({ glossary, post }: Seeding, id: string): Promise<void> => {
  const recorded = glossary.recorded(['coupon'], id) ?? {}
  const amount = recorded['amount_off']
  const coupon = await post('/v1/coupons', {
    id,
    duration: textIn(recorded['duration']) ?? 'once',
    ...(typeof amount === 'number'
      ? { amount_off: String(amount), currency: textIn(recorded['currency']) ?? 'usd' }
      : { percent_off: countIn(recorded['percent_off'], 10) }),
  })
  glossary.call(id, coupon.body)
}

/** Customers and cards only: of anything else the history is part of the shape. */
const seedObject = async ({ exchange, glossary, post }: Seeding, id: string): Promise<void> => {
  const prefix = prefixOf(id)
  if (prefix === 'cus_')
    glossary.call(id, (await post('/v1/customers', { email: 'corpus@example.com' })).body)
  if (prefix !== 'pm_') return
  const customer = idsIn(exchange).find((each) => prefixOf(each) === 'cus_')
  const card =
    customer === undefined || exchange.path.endsWith('/attach')
      ? await post('/v1/payment_methods', { type: 'card', 'card[token]': 'tok_visa' })
      : await post('/v1/payment_methods/pm_card_visa/attach', { customer: glossary.idOf(customer) })
  glossary.call(id, card.body)
}

const countIn = (value: unknown, otherwise: number): string =>
  String(typeof value === 'number' ? value : otherwise)
