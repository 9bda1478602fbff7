// RULE: the tenant that an event's own data names. Set by the host's server; what a payer can alter is not trusted.
import { isTenantId } from '../ids.ts'
import { asRecord, type Topic } from './envelope.ts'

/** A tenant named by the host's server, and where. `invalid` where it cannot be a tenant id. */
export type TenantHint =
  | { kind: 'none' }
  | { kind: 'invalid' }
  | { kind: 'tenant'; tenantId: string; by: 'checkout' | 'metadata' }

// `metadata.tenant_id` is set by the host's server; of a Payment Link session the payer can alter the reference.
export const tenantHint = (topic: Topic, object: Record<string, unknown>): TenantHint => {
  const fromMetadata = hintOf(
    asRecord(object['metadata'])['tenant_id'],
    topic === 'checkout' ? 'checkout' : 'metadata',
  )
  if (topic !== 'checkout' && topic !== 'subscription' && topic !== 'customer') return { kind: 'none' }
  if (fromMetadata.kind !== 'none' || topic !== 'checkout') return fromMetadata
  return object['payment_link'] === null || object['payment_link'] === undefined
    ? hintOf(object['client_reference_id'], 'checkout')
    : { kind: 'none' }
}

const hintOf = (value: unknown, by: 'checkout' | 'metadata'): TenantHint => {
  if (value === undefined || value === null || value === '') return { kind: 'none' }
  return isTenantId(value) ? { kind: 'tenant', tenantId: value, by } : { kind: 'invalid' }
}
