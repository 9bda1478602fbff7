// The routes of payment methods, payment and setup intents, charges, refunds and disputes.

import { invalid } from '../errors.ts'
import { closeDispute, refundCharge, updateDispute, updateRefund } from '../life/charges.ts'
import {
  cancelIntent,
  captureIntent,
  confirmIntent,
  createIntent,
  settleProcessing,
} from '../life/intents.ts'
import { attachMethod, createMethod, detachMethod, methodNamed, updateMethod } from '../life/methods.ts'
import { cancelSetupIntent, createSetupIntent } from '../life/setup-intents.ts'
import type { ChargeState } from '../records-payments.ts'
import { disputeWire, refundWire } from '../wire/money-back.ts'
import { chargeWire } from '../wire/charge.ts'
import { intentWire, methodWire, setupIntentWire } from '../wire/payments.ts'
import { need } from '../world.ts'
import type { World } from '../world.ts'
import { bool, given, hash, int, metadataOf, str, strings, word } from './form.ts'
import type { Params } from './form.ts'
import { page, retrieve } from './routing.ts'
import type { Route, RouteContext } from './routing.ts'

const newMethod = ({ world, body }: RouteContext) => {
  const billing = hash(body, 'billing_details') ?? {}
  const details = {
    type: word(body, 'type', ['card', 'sepa_debit'] as const) ?? 'card',
    ...given({
      token: str(hash(body, 'card') ?? {}, 'token'),
      iban: str(hash(body, 'sepa_debit') ?? {}, 'iban'),
      email: str(billing, 'email'),
      name: str(billing, 'name'),
      metadata: metadataOf(body),
    }),
  }
  return methodWire(world, createMethod(world, details))
}

const listMethods = (context: RouteContext, customer: string | undefined) => {
  const { world, query } = context
  const type = str(query, 'type')
  const shown = [...world.store.method.values()].filter(
    (method) =>
      (customer === undefined ? method.customer !== null : method.customer === customer) &&
      (type === undefined || method.type === type),
  )
  return page(context, shown, (method) => methodWire(world, method))
}

// In every currency that is simulated.
const SMALLEST = 50

const tooSmall = () =>
  invalid(
    'The amount must be greater than or equal to the minimum charge amount allowed for your account and the currency set.',
    'amount',
    'parameter_invalid_integer',
  )

const newIntent = ({ world, body }: RouteContext) => {
  const named = str(body, 'payment_method')
  if ((int(body, 'amount') ?? 0) < SMALLEST) throw tooSmall()
  const types = strings(body, 'payment_method_types')
  const intent = createIntent(world, {
    amount: int(body, 'amount') ?? 0,
    currency: str(body, 'currency') ?? 'usd',
    ...(types.length === 0 ? {} : { methodTypes: types }),
    ...given({
      customer: str(body, 'customer'),
      method: named === undefined ? undefined : methodNamed(world, named).id,
      capture: str(body, 'capture_method') === 'manual' ? ('manual' as const) : undefined,
      description: str(body, 'description'),
      metadata: metadataOf(body),
    }),
  })
  if (bool(body, 'confirm') === true) confirmIntent(world, intent)
  return intentWire(world, intent)
}

const confirm = ({ world, ids: [id = ''], body }: RouteContext) => {
  const intent = need(world, 'intent', id)
  const named = str(body, 'payment_method')
  if (named !== undefined) intent.method = methodNamed(world, named).id
  if (intent.status === 'processing') settleProcessing(world, intent)
  else confirmIntent(world, intent)
  return intentWire(world, intent)
}

const newSetupIntent = ({ world, body }: RouteContext) => {
  const types = strings(body, 'payment_method_types')
  const intent = createSetupIntent(world, {
    ...(types.length === 0 ? {} : { methodTypes: types }),
    ...given({
      customer: str(body, 'customer'),
      method: str(body, 'payment_method'),
      description: str(body, 'description'),
      metadata: metadataOf(body),
      confirm: bool(body, 'confirm'),
    }),
  })
  return setupIntentWire(world, intent)
}

const newRefund = ({ world, body }: RouteContext) =>
  refundWire(refundCharge(world, chargeNamed(world, body), int(body, 'amount'), metadataOf(body)))

const chargeNamed = (world: World, body: Params): ChargeState => {
  const charge = str(body, 'charge')
  if (charge !== undefined) return need(world, 'charge', charge, 'charge')
  const intent = need(world, 'intent', str(body, 'payment_intent') ?? '', 'payment_intent')
  if (intent.charge === null || intent.status !== 'succeeded') {
    throw invalid('This PaymentIntent does not have a successful charge to refund.', 'payment_intent')
  }
  return need(world, 'charge', intent.charge)
}

const byIntent = <T extends ChargeUser>(context: RouteContext, all: Iterable<T>): T[] => {
  const intent = str(context.query, 'payment_intent')
  const charge = str(context.query, 'charge')
  return [...all].filter(
    (each) =>
      (intent ?? each.paymentIntent) === each.paymentIntent && (charge ?? each.charge) === each.charge,
  )
}
type ChargeUser = { charge: string; paymentIntent: string }

const listCharges = (context: RouteContext) => {
  const { world, query } = context
  const customer = str(query, 'customer')
  const shown = [...world.store.charge.values()].filter(
    (each) => (customer ?? each.customer) === each.customer,
  )
  return page(context, shown, (each) => chargeWire(world, each))
}

export const paymentRoutes: Route[] = [
  retrieve('/v1/payment_methods/:id', 'payment_method'),
  ['GET', '/v1/payment_methods', (c) => listMethods(c, str(c.query, 'customer'))],
  ['GET', '/v1/customers/:id/payment_methods', (c) => listMethods(c, c.ids[0])],
  ['POST', '/v1/payment_methods', newMethod],
  [
    'POST',
    '/v1/payment_methods/:id',
    ({ world, ids: [id = ''], body }) =>
      methodWire(world, updateMethod(world, methodNamed(world, id), metadataOf(body) ?? {})),
  ],
  [
    'POST',
    '/v1/payment_methods/:id/attach',
    ({ world, ids: [id = ''], body }) =>
      methodWire(world, attachMethod(world, methodNamed(world, id), str(body, 'customer') ?? '')),
  ],
  [
    'POST',
    '/v1/payment_methods/:id/detach',
    ({ world, ids: [id = ''] }) => methodWire(world, detachMethod(world, need(world, 'method', id))),
  ],
  retrieve('/v1/payment_intents/:id', 'payment_intent'),
  [
    'GET',
    '/v1/payment_intents',
    (c) => page(c, c.world.store.intent.values(), (each) => intentWire(c.world, each)),
  ],
  ['POST', '/v1/payment_intents', newIntent],
  ['POST', '/v1/payment_intents/:id/confirm', confirm],
  [
    'POST',
    '/v1/payment_intents/:id/capture',
    ({ world, ids: [id = ''] }) => intentWire(world, captureIntent(world, id)),
  ],
  [
    'POST',
    '/v1/payment_intents/:id/cancel',
    ({ world, ids: [id = ''], body }) =>
      intentWire(
        world,
        cancelIntent(world, need(world, 'intent', id), str(body, 'cancellation_reason') ?? null),
      ),
  ],
  retrieve('/v1/setup_intents/:id', 'setup_intent'),
  ['POST', '/v1/setup_intents', newSetupIntent],
  [
    'POST',
    '/v1/setup_intents/:id/cancel',
    ({ world, ids: [id = ''], body }) =>
      setupIntentWire(
        world,
        cancelSetupIntent(world, need(world, 'setupIntent', id), str(body, 'cancellation_reason') ?? null),
      ),
  ],
  retrieve('/v1/charges/:id', 'charge'),
  ['GET', '/v1/charges', listCharges],
  retrieve('/v1/refunds/:id', 'refund'),
  ['GET', '/v1/refunds', (c) => page(c, byIntent(c, c.world.store.refund.values()), refundWire)],
  ['POST', '/v1/refunds', newRefund],
  [
    'POST',
    '/v1/refunds/:id',
    ({ world, ids: [id = ''], body }) => refundWire(updateRefund(world, id, metadataOf(body) ?? {})),
  ],
  retrieve('/v1/disputes/:id', 'dispute'),
  [
    'GET',
    '/v1/disputes',
    (c) => page(c, byIntent(c, c.world.store.dispute.values()), (each) => disputeWire(c.world, each)),
  ],
  [
    'POST',
    '/v1/disputes/:id',
    ({ world, ids: [id = ''], body }) => disputeWire(world, updateDispute(world, id, metadataOf(body) ?? {})),
  ],
  [
    'POST',
    '/v1/disputes/:id/close',
    ({ world, ids: [id = ''] }) => disputeWire(world, closeDispute(world, id)),
  ],
]
