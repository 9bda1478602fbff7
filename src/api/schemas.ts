// The bodies of the host product's routes, as schemas: what is checked on the way in, and what the OpenAPI document says of
// both ways.
import { z } from 'zod'
import { ACCESS_STATES } from '../entitlements/model.ts'
import type { ReadFeature, ReadTenant } from '../entitlements/read.ts'
import { isTenantId } from '../ids.ts'
import { WAIT_MAX_MS } from '../operate/reconcile.ts'
import { SECOND_MS } from '../time.ts'

const WAIT_MAX_SECONDS = WAIT_MAX_MS / SECOND_MS
const account = z.string().min(1).max(63)

/** `PUT /v1/tenants/:tenant/customer`. */
export const linkBody = z.strictObject({
  account: account.default('default'),
  customer: z.string().regex(/^cus_[\x21-\x7e]{1,251}$/, 'expected an id that begins with cus_'),
})

/** `POST /v1/reconcile`. */
export const reconcileBody = z
  .strictObject({
    tenant: z.string().refine(isTenantId, 'expected a tenant').optional(),
    customer: z.string().min(1).max(255).optional(),
    account: account.optional(),
    wait_seconds: z.number().min(0).max(WAIT_MAX_SECONDS).default(WAIT_MAX_SECONDS),
  })
  .refine(
    ({ tenant, customer }) => (tenant === undefined) !== (customer === undefined),
    'expected a tenant or a customer',
  )

const time = z.iso.datetime()
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])

const given = {
  value: z.union([z.boolean(), z.number(), z.string()]),
  state: z.enum(ACCESS_STATES),
  source: z.enum(['stripe', 'default', 'manual']),
  from: time.nullable(),
  until: time.nullable().describe('When it ends by what is known; null where no end is.'),
  until_kind: z
    .enum(['final', 'recheck', 'stale', 'held'])
    .nullable()
    .describe(
      'final: it ends then. recheck: paid through. stale: past that, borne until then. held: by an operator.',
    ),
  because: z
    .array(z.record(z.string(), scalar))
    .describe('Each source that grants it, the highest rank first.'),
}
const featureBody: z.ZodType<ReadFeature> = z.strictObject(given)

const common = {
  tenant: z.string(),
  as_of: time.nullable().describe('Since when it is known to be so.'),
  stale: z.boolean().describe('Something of it is past its end, and Stripe was not read since.'),
  revision: z.number().int().describe('Grows whenever the answer changes.'),
  revocations_held_until: time.nullable().describe('An operator keeps access as it is until then.'),
}

/** `GET /v1/tenants/:tenant/entitlements`. */
export const tenantBody: z.ZodType<ReadTenant> = z.strictObject({
  ...common,
  plan: z.string().nullable(),
  active: z.boolean().describe('Does a plan that was bought (or is on trial) grant now?'),
  state: z.enum([...ACCESS_STATES, 'none', 'unknown']),
  features: z.record(z.string(), featureBody).describe('What is granted now; what is absent is not.'),
  seats: z.number().nullable(),
})

/** `GET /v1/tenants/:tenant/entitlements/:feature`. */
export const oneFeatureBody = z.strictObject({
  ...common,
  feature: z.string(),
  allowed: z.boolean().describe('What the host product asks for.'),
  ...Object.fromEntries(Object.entries(given).map(([name, schema]) => [name, schema.nullable()])),
  because: given.because,
})
