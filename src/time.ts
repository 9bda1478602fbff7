// Time as plain numbers: every instant in this program is milliseconds since the epoch (`Instant`), every
// duration a number whose name ends in its unit. Stripe's whole seconds are converted once, in snapshot.ts.

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number

export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** Stripe's seconds (or null, or absent) as an Instant. */
export const fromStripeSeconds = (seconds: number | null | undefined): Instant | null =>
  typeof seconds === 'number' && Number.isFinite(seconds) ? seconds * SECOND_MS : null

/** ISO text for people and JSON, null for null. */
export const toIso = (at: Instant | null): string | null => (at === null ? null : new Date(at).toISOString())

/** Earliest of the instants that are there; null where none is. */
export const earliest = (...instants: (Instant | null | undefined)[]): Instant | null =>
  instants.reduce<Instant | null>(
    (first, at) => (at === null || at === undefined ? first : first === null ? at : Math.min(first, at)),
    null,
  )

export type Backoff = { baseMs: number; capMs: number }

/**
 * Delay before the try that follows `failures` failed ones (1 = after the first): doubling from `baseMs`, up to
 * `capMs`, of which up to a quarter is taken off by `draw` (0 to 1), so that a crowd spreads out.
 */
export const backoffMs = ({ baseMs, capMs }: Backoff, failures: number, draw: number): number => {
  const full = Math.min(capMs, baseMs * 2 ** Math.min(30, Math.max(0, failures - 1)))
  return Math.round(full * (1 - draw / 4))
}
