// What operators' actions take, as schemas: one name a kind of input, checked alike for the CLI (texts) and the API.
import { z } from 'zod'
import { isTenantId, TENANT_MAX_CHARS } from '../ids.ts'

const LIMIT_MAX = 1_000
export const nothing = z.strictObject({})
export const name = z.string().min(1).max(63)
export const account = name.describe('Of which account.').optional()
const event = z.string().min(1).max(255).describe('Its id, evt_….')
export const whom = z.string().min(1).max(255).describe('A tenant, or the id of a customer.')
export const customer = z.string().regex(/^cus_[\x21-\x7e]{1,251}$/, 'expected an id that begins with cus_')
export const tenant = z
  .string()
  .refine(isTenantId, `expected 1 to ${TENANT_MAX_CHARS} printable characters`)
  .describe('As the host product names it.')
export const feature = z.string().min(1).max(64)
export const time = z.iso.datetime({ offset: true, error: 'expected a time such as 2027-01-31T00:00:00Z' })
export const limit = z.coerce.number().int().min(1).max(LIMIT_MAX).default(50)
export const id = z.coerce.number().int().min(1)
export const flag = z.union([z.boolean(), z.stringbool()]).default(false)
export const value = z.union([z.boolean(), z.number(), z.string().max(255)])
export const reason = z.string().min(1).max(255)
export const asked = z.strictObject({
  event,
  account,
  epoch: id.describe('The life of it that was looked at.').optional(),
  checked: z.string().min(1).max(500).describe('What Stripe showed, where we cannot look.').optional(),
})

export const eventFilter = z.strictObject({
  account,
  customer: z.string().min(1).max(255).optional(),
  type: z.string().min(1).max(255).optional(),
  reason: reason.optional(),
  state: z.enum(['pending', 'processed', 'dead']).optional(),
  since: time.optional(),
  limit,
})
