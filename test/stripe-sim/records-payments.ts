// The records of payments: methods, the intents to charge or keep them, charges, and what takes money back. See records.ts.

import type { Metadata } from './records.ts'

/** What a charge of a payment method comes to. `processing_*`: a delayed method, decided later. */
export type PaymentOutcome =
  | 'succeeds'
  | 'declines'
  | 'needs_action'
  | 'inquiry'
  | 'processing_succeeds'
  | 'processing_fails'

export type MethodState = {
  id: string
  created: number
  type: 'card' | 'sepa_debit'
  outcome: PaymentOutcome
  refusedOnAttach: boolean
  customer: string | null
  last4: string
  email: string | null
  name: string | null
  metadata: Metadata
}
export type IntentStatus =
  | 'canceled'
  | 'processing'
  | 'requires_action'
  | 'requires_capture'
  | 'requires_confirmation'
  | 'requires_payment_method'
  | 'succeeded'
export type IntentState = {
  id: string
  created: number
  customer: string | null
  amount: number
  received: number
  currency: string
  status: IntentStatus
  capture: 'automatic' | 'manual'
  method: string | null
  methodTypes: string[]
  charge: string | null
  failed: boolean
  canceledAt: number | null
  cancelReason: string | null
  description: string | null
  invoice: string | null
  metadata: Metadata
}
export type SetupIntentState = {
  id: string
  created: number
  customer: string | null
  status: 'canceled' | 'requires_action' | 'requires_confirmation' | 'requires_payment_method' | 'succeeded'
  method: string | null
  methodTypes: string[]
  failed: boolean
  cancelReason: string | null
  description: string | null
  metadata: Metadata
}
export type ChargeState = {
  id: string
  created: number
  customer: string | null
  amount: number
  currency: string
  refunded: number
  disputed: boolean
  failed: boolean
  captured: boolean
  method: string | null
  invoice: string | null
  paymentIntent: string
}
export type RefundState = {
  id: string
  created: number
  customer: string | null
  amount: number
  currency: string
  charge: string
  paymentIntent: string
  metadata: Metadata
}
export type DisputeState = RefundState & {
  status: 'lost' | 'needs_response' | 'warning_closed' | 'warning_needs_response' | 'won'
}
