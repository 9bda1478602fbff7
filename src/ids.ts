// Stripe ids in whatever shape a reference comes: the one place that turns a reference into an id. It must never
// invent an id, and an empty or odd one is null, so that it can match nothing and share no lock.

// Ids have up to 255 characters (Stripe, "Upgrades"). Blanks only inside: plans of 2012 were named by people.
const PRINTABLE = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/

/** Kinds whose ids begin alike ever since they have a prefix. Longer prefixes first. */
const PREFIXES = [
  ['sub_sched_', 'subscription_schedule'],
  ['cus_', 'customer'],
  ['sub_', 'subscription'],
  ['si_', 'subscription_item'],
  ['in_', 'invoice'],
  ['evt_', 'event'],
  ['ch_', 'charge'],
  ['pi_', 'payment_intent'],
  ['price_', 'price'],
  ['prod_', 'product'],
] as const

export type Kind = (typeof PREFIXES)[number][1]

/** Is this a usable id: 1 to 255 characters of printable ASCII, no blank at either end? */
export const isPrintableId = (value: unknown): value is string =>
  typeof value === 'string' && PRINTABLE.test(value)

/**
 * The id of a reference: a string, an expanded object, a deleted one (`{ id, deleted: true }`), null or absent.
 * Null where there is none that is printable.
 */
export const idOf = (ref: unknown): string | null => {
  const id = typeof ref === 'object' && ref !== null && 'id' in ref ? ref.id : ref
  return isPrintableId(id) ? id : null
}

/**
 * Does this reference name something of another kind: by the `object` field of an expanded one, or by a prefix that
 * belongs to another kind? An id without a known prefix (those of 2012) is of no wrong kind, nor is null.
 */
export const isOfOtherKind = (ref: unknown, kind: Kind): boolean => {
  if (typeof ref === 'object' && ref !== null && 'object' in ref && ref.object !== kind) return true
  const id = idOf(ref)
  const known = id === null ? undefined : PREFIXES.find(([prefix]) => id.startsWith(prefix))
  return known !== undefined && known[1] !== kind
}

export const TENANT_MAX_CHARS = 255
// Characters as the database counts them (code points); no control characters, no half of a surrogate pair.
const TENANT = new RegExp(`^[^\\p{Cc}\\p{Cs}]{1,${TENANT_MAX_CHARS}}$`, 'u')

/** Text that can be a tenant's id: 1 to 255 characters of any script, not blank. */
export const isTenantId = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && TENANT.test(value)
