// The routes of customers, their sources, and the portal that shows them their own.

import { createCustomer, deleteCustomer, updateCustomer } from '../life/customers.ts'
import type { CustomerPatch } from '../life/customers.ts'
import { customerWire, deletedCustomerWire } from '../wire/catalog.ts'
import { liveCustomer } from '../world.ts'
import { given, hash, metadataOf, str } from './form.ts'
import type { Params } from './form.ts'
import { page, retrieve } from './routing.ts'
import type { Route, RouteContext } from './routing.ts'

const listCustomers = (context: RouteContext) => {
  const { world, query } = context
  const email = str(query, 'email')
  const clock = str(query, 'test_clock') ?? null
  // Plain lists leave out customers on a test clock.
  const shown = [...world.store.customer.values()].filter(
    (each) => !each.deleted && each.testClock === clock && (email === undefined || each.email === email),
  )
  return page(context, shown, (customer) => customerWire(world, customer))
}

const personal = (body: Params) => ({
  email: str(body, 'email'),
  name: str(body, 'name'),
  description: str(body, 'description'),
  metadata: metadataOf(body),
  source: str(body, 'source'),
  defaultMethod: str(hash(body, 'invoice_settings') ?? {}, 'default_payment_method'),
})

const newCustomer = ({ world, body }: RouteContext) =>
  customerWire(
    world,
    createCustomer(world, {
      ...given({
        id: str(body, 'id'),
        ...personal(body),
        testClock: str(body, 'test_clock'),
        method: str(body, 'payment_method'),
        coupon: str(body, 'coupon'),
      }),
      unseenCard: false,
    }),
  )

const changeCustomer = ({ world, ids: [id = ''], body }: RouteContext) => {
  const coupon = str(body, 'coupon')
  const patch: CustomerPatch = given(personal(body))
  if (coupon !== undefined) patch.coupon = coupon === '' ? null : coupon
  return customerWire(
    world,
    world.mutate(id, () => updateCustomer(world, id, patch)),
  )
}

const portalSession = ({ world, body }: RouteContext) => {
  const customer = liveCustomer(world, str(body, 'customer') ?? '')
  const session = {
    id: world.id('bps'),
    object: 'billing_portal.session',
    configuration: 'bpc_1Simulated00000000000000',
    created: world.now(customer.id),
    customer: customer.id,
    customer_account: null,
    flow: null,
    livemode: world.account.livemode,
    locale: null,
    on_behalf_of: null,
    return_url: str(body, 'return_url') ?? null,
    url: 'https://billing.stripe.com/p/session/simulated',
  }
  world.emit('billing_portal.session.created', session)
  return session
}

export const customerRoutes: Route[] = [
  ['POST', '/v1/billing_portal/sessions', portalSession],
  retrieve('/v1/customers/:id', 'customer'),
  ['GET', '/v1/customers', listCustomers],
  ['POST', '/v1/customers', newCustomer],
  ['POST', '/v1/customers/:id', changeCustomer],
  [
    'DELETE',
    '/v1/customers/:id',
    ({ world, ids: [id = ''] }) => deletedCustomerWire(world.mutate(id, () => deleteCustomer(world, id))),
  ],
]
