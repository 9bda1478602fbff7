// Setup intents: a payment method is kept for later, without a charge.

import { declined } from '../errors.ts'
import type { SetupIntentState } from '../records-payments.ts'
import type { Metadata } from '../records.ts'
import { put } from '../state.ts'
import { setupIntentWire } from '../wire/payments.ts'
import type { World } from '../world.ts'
import { attachMethod, methodNamed } from './methods.ts'

export type SetupInput = {
  customer?: string
  method?: string
  methodTypes?: string[]
  description?: string
  metadata?: Metadata
  confirm?: boolean
}

export const createSetupIntent = (world: World, input: SetupInput): SetupIntentState => {
  const intent = put(world.store, 'setupIntent', {
    id: world.id('seti'),
    created: world.now(input.customer),
    customer: input.customer ?? null,
    status: input.method === undefined ? 'requires_payment_method' : 'requires_confirmation',
    method: null,
    methodTypes: input.methodTypes ?? ['card'],
    failed: false,
    cancelReason: null,
    description: input.description ?? null,
    metadata: { ...input.metadata },
  })
  world.emit('setup_intent.created', setupIntentWire(world, intent))
  if (input.confirm === true && input.method !== undefined) confirm(world, intent, input.method)
  return intent
}

const confirm = (world: World, intent: SetupIntentState, name: string): void => {
  const method = methodNamed(world, name)
  if (method.outcome === 'declines') {
    intent.status = 'requires_payment_method'
    intent.failed = true
    world.emit('setup_intent.setup_failed', setupIntentWire(world, intent))
    throw declined()
  }
  intent.method = method.id
  intent.status = method.outcome === 'needs_action' ? 'requires_action' : 'succeeded'
  const done = intent.status === 'succeeded'
  if (done && intent.customer !== null) attachMethod(world, method, intent.customer)
  world.emit(`setup_intent.${done ? 'succeeded' : 'requires_action'}`, setupIntentWire(world, intent))
}

export const cancelSetupIntent = (
  world: World,
  intent: SetupIntentState,
  reason: string | null,
): SetupIntentState => {
  intent.status = 'canceled'
  intent.cancelReason = reason
  world.emit('setup_intent.canceled', setupIntentWire(world, intent))
  return intent
}
