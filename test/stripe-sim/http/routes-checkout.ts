// The routes of Checkout sessions, and the page by which the CLI fills them in.

import { confirmSession, expireSession, openSession } from '../life/checkout.ts'
import { sessionItemWire, sessionWire } from '../wire/checkout.ts'
import { need } from '../world.ts'
import { given, hash, hashes, int, metadataOf, str, strings, word } from './form.ts'
import { page, retrieve } from './routing.ts'
import type { Route, RouteContext } from './routing.ts'

const MODES = ['payment', 'setup', 'subscription'] as const

const newSession = ({ world, body }: RouteContext) => {
  const subscription = hash(body, 'subscription_data') ?? {}
  const types = strings(body, 'payment_method_types')
  const session = openSession(world, {
    mode: word(body, 'mode', MODES) ?? 'payment',
    items: hashes(body, 'line_items').map((item) => ({
      price: str(item, 'price') ?? '',
      quantity: int(item, 'quantity') ?? 1,
    })),
    ...(types.length === 0 ? {} : { methodTypes: types }),
    ...given({
      customer: str(body, 'customer'),
      email: str(body, 'customer_email'),
      clientReferenceId: str(body, 'client_reference_id'),
      metadata: metadataOf(body),
      subscriptionMetadata: metadataOf(subscription),
      trialDays: int(subscription, 'trial_period_days'),
      successUrl: str(body, 'success_url'),
      cancelUrl: str(body, 'cancel_url'),
    }),
  })
  return sessionWire(world, session)
}

const listSessions = (context: RouteContext) => {
  const { world, query } = context
  const customer = str(query, 'customer')
  const subscription = str(query, 'subscription')
  const intent = str(query, 'payment_intent')
  const shown = [...world.store.session.values()].filter(
    (session) =>
      (customer === undefined || session.customer === customer) &&
      (subscription === undefined || session.subscription === subscription) &&
      (intent === undefined || session.paymentIntent === intent),
  )
  return page(context, shown, (session) => sessionWire(world, session))
}

const listLineItems = (context: RouteContext) => {
  const { world, ids } = context
  const session = need(world, 'session', ids[0] ?? '')
  const rows = session.items.map((_item, index) => ({ id: String(index), created: session.created, index }))
  return page(context, rows.toReversed(), ({ index }) => sessionItemWire(world, session, index))
}

// Undocumented: Stripe's own page and its CLI talk like this. The page itself has no shape in the SDK.
const paymentPage: Route = [
  'GET',
  '/v1/payment_pages/:id',
  ({ world, ids: [id = ''] }) => {
    const session = need(world, 'session', id)
    return { id: `ppage_${id.slice(-20)}`, object: 'payment_page', session_id: id, state: session.status }
  },
]

const confirmPage = ({ world, ids: [id = ''], body }: RouteContext) => {
  const session = need(world, 'session', id)
  const how = { method: str(body, 'payment_method') ?? '', expectedAmount: int(body, 'expected_amount') }
  const confirmed = () => confirmSession(world, session, how)
  const after = session.customer === null ? confirmed() : world.mutate(session.customer, confirmed)
  return { id: `ppage_${id.slice(-20)}`, object: 'payment_page', session_id: id, state: after.status }
}

export const checkoutRoutes: Route[] = [
  retrieve('/v1/checkout/sessions/:id', 'checkout.session'),
  ['GET', '/v1/checkout/sessions', listSessions],
  ['POST', '/v1/checkout/sessions', newSession],
  ['GET', '/v1/checkout/sessions/:id/line_items', listLineItems],
  [
    'POST',
    '/v1/checkout/sessions/:id/expire',
    ({ world, ids: [id = ''] }) => sessionWire(world, expireSession(world, need(world, 'session', id))),
  ],
  paymentPage,
  ['POST', '/v1/payment_pages/:id/confirm', confirmPage],
]
