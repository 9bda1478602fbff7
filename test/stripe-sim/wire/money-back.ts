// Wire objects of refunds and disputes. See catalog.ts for the conventions.

import type Stripe from 'stripe'
import type { DisputeState, RefundState } from '../records-payments.ts'
import type { World } from '../world.ts'
import type { Wire } from './catalog.ts'

export const refundWire = (refund: RefundState) =>
  ({
    id: refund.id,
    object: 'refund',
    amount: refund.amount,
    balance_transaction: null,
    charge: refund.charge,
    created: refund.created,
    currency: refund.currency,
    customer: refund.customer,
    customer_account: null,
    metadata: { ...refund.metadata },
    payment_intent: refund.paymentIntent,
    payment_method: null,
    reason: null,
    receipt_number: null,
    source_transfer_reversal: null,
    status: 'succeeded',
    transfer_reversal: null,
  }) satisfies Wire<Stripe.Refund>

const NO_EVIDENCE = {
  access_activity_log: null,
  billing_address: null,
  cancellation_policy: null,
  cancellation_policy_disclosure: null,
  cancellation_rebuttal: null,
  customer_communication: null,
  customer_email_address: null,
  customer_name: null,
  customer_purchase_ip: null,
  customer_signature: null,
  duplicate_charge_documentation: null,
  duplicate_charge_explanation: null,
  duplicate_charge_id: null,
  enhanced_evidence: {},
  product_description: null,
  receipt: null,
  refund_policy: null,
  refund_policy_disclosure: null,
  refund_refusal_explanation: null,
  service_date: null,
  service_documentation: null,
  shipping_address: null,
  shipping_carrier: null,
  shipping_date: null,
  shipping_documentation: null,
  shipping_tracking_number: null,
  uncategorized_file: null,
  uncategorized_text: null,
} satisfies Wire<Stripe.Dispute.Evidence>

// A dispute names no customer: only charge and payment intent lead to one.
export const disputeWire = (world: World, dispute: DisputeState) =>
  ({
    id: dispute.id,
    object: 'dispute',
    amount: dispute.amount,
    balance_transactions: [],
    charge: dispute.charge,
    created: dispute.created,
    currency: dispute.currency,
    enhanced_eligibility_types: [],
    evidence: NO_EVIDENCE,
    evidence_details: {
      due_by: dispute.created + 7 * 86_400,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: 'manual',
    },
    intended_submission_method: 'manual',
    is_charge_refundable: true,
    livemode: world.account.livemode,
    metadata: { ...dispute.metadata },
    payment_intent: dispute.paymentIntent,
    reason: 'fraudulent',
    status: dispute.status,
  }) satisfies Wire<Stripe.Dispute>
