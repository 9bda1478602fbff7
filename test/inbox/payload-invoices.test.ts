// Accounts without a key: whose invoice it is, in every shape, and what is never guessed (rules.md, section 5).
import { expect, test } from 'vitest'
import { openWorld, signUp } from '../harness/world.ts'

const DAY_MS = 86_400_000
const openKeyless = () => openWorld({ keyless: ['default'] })

type Shape = (subscription: string) => object
const inParent: Shape = (subscription) => ({
  parent: { type: 'subscription_details', subscription_details: { subscription } },
})
const SHAPES: [string, Shape, string][] = [
  [
    'names its subscription in the legacy field',
    (id) => ({ parent: undefined, subscription: id }),
    'applied null',
  ],
  ['names it in its parent', inParent, 'applied null'],
  ['names none', () => ({ parent: null, subscription: undefined }), 'no_change invoice_without_subscription'],
  [
    'names two that differ',
    (id) => ({ ...inParent(id), subscription: 'sub_another' }),
    'permanent unrecognized_stripe_payload',
  ],
  ['names one of nobody', () => inParent('sub_another'), 'permanent ambiguous_invoice_subscription'],
]

test.each(SHAPES)('a failed invoice that %s', async (_what, shape, settled) => {
  const world = await openKeyless()
  const { id, customer } = await signUp(world)
  await world.settle()
  await world.advance(DAY_MS)
  const invoice = { ...world.shop.invoicesOf(customer)[0], id: 'in_new', status: 'open' }

  const failed = world.shop.emit('invoice.payment_failed', { ...invoice, ...shape(id) })
  await world.deliver()

  const { outcome, reason } = await world.event(failed.id)
  expect(`${String(outcome)} ${String(reason)}`).toBe(settled)
  expect((await world.read('acme')).body['state']).toBe(settled === 'applied null' ? 'grace' : 'active')
})

test("an invoice of another customer's subscription changes nothing for either", async () => {
  const world = await openKeyless()
  const { id } = await signUp(world)
  const other = await signUp(world, 'bolt')
  await world.settle()
  world.shop.cancel(other.id)
  await world.advance(DAY_MS)
  const invoice = {
    ...world.shop.invoicesOf(other.customer)[0],
    id: 'in_new',
    status: 'open',
    ...inParent(id),
  }

  const failed = world.shop.emit('invoice.payment_failed', invoice)
  await world.deliver()

  expect(await world.event(failed.id)).toMatchObject({ reason: 'ambiguous_invoice_subscription' })
  expect((await world.read('acme')).body['state']).toBe('active')
})

test('an older report of an invoice that comes late changes nothing', async () => {
  const world = await openKeyless()
  const { customer } = await signUp(world)
  await world.advance(DAY_MS)
  const invoice = { ...world.shop.invoicesOf(customer)[0], id: 'in_new' }
  const given = world.shop.emit('invoice.marked_uncollectible', { ...invoice, status: 'uncollectible' })
  await world.deliver()

  world.shop.emit('invoice.finalized', { ...invoice, status: 'open' }, { created: given.created - 60 })
  await world.deliver()

  expect(await world.query("select status from goodstanding.invoices where invoice_id = 'in_new'")).toEqual([
    { status: 'uncollectible' },
  ])
})
