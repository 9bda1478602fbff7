// Single fields of Stripe's JSON, of any API version: present, absent, or nothing that we can use. A field that is
// there and makes no sense is noted in `problems` by its name, never thrown and never passed on.
import { isTenantId } from '../ids.ts'
import { fromStripeSeconds } from '../time.ts'
import type { Instant } from '../time.ts'

export type Fields = Record<string, unknown>

// 9999-12-31: later is no time that PostgreSQL, ISO text and a Date can all hold.
const LAST_SECOND = 253_402_300_799

/** The fields of a JSON object; null for anything else. */
export const fieldsOf = (raw: unknown): Fields | null =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? (raw as Fields) : null

/** A code, a key, a word: text that can be stored; null for anything else. */
export const textOf = (value: unknown): string | null =>
  typeof value === 'string' &&
  value !== '' &&
  value.length <= 255 &&
  value.isWellFormed() &&
  !/\p{Cc}/u.test(value)
    ? value
    : null

/** Stripe's seconds in a field; null where it is null or absent, a problem where it is no time. */
export const instantOf = (fields: Fields, key: string, problems: string[]): Instant | null => {
  const seconds = fields[key]
  if (seconds === undefined || seconds === null) return null
  const isTime = typeof seconds === 'number' && seconds >= 0 && seconds <= LAST_SECOND
  const at = isTime ? fromStripeSeconds(seconds) : null
  if (at === null) problems.push(`${key}: not a time`)
  return at === null ? null : Math.round(at)
}

/** An amount in the currency's smallest unit; null where it is null or absent. */
export const amountOf = (fields: Fields, key: string, problems: string[]): number | null => {
  const amount = fields[key] ?? null
  if (amount === null || Number.isSafeInteger(amount)) return amount as number | null
  problems.push(`${key}: not an amount`)
  return null
}

/** A count of seats; null where Stripe sends none. `quantity_decimal` counts only where it is a whole number. */
export const quantityOf = (fields: Fields, where: string, problems: string[]): number | null => {
  const given = fields['quantity'] ?? wholeOf(fields['quantity_decimal'] ?? null)
  if (given === null) return null
  if (typeof given === 'number' && Number.isSafeInteger(given) && given >= 0) return given
  problems.push(`${where}: quantity is not a count`)
  return null
}

/** A decimal as text, or as the object that the SDK makes of it, where it is whole; NaN where it is not. */
const wholeOf = (decimal: unknown): number | null => {
  if (decimal === null) return null
  // The SDK's decimals print themselves as text in JSON.
  const text = JSON.stringify(decimal)
  return /^("?)\d+(\.0+)?\1$/.test(text) ? Number(text.replaceAll('"', '')) : Number.NaN
}

/** `metadata.tenant_id` where it can be a tenant's id; anything else is none. */
export const tenantIdOf = (metadata: unknown): string | null => {
  const tenant = fieldsOf(metadata)?.['tenant_id']
  return isTenantId(tenant) ? tenant : null
}
