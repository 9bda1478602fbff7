// RULE: what a failed Stripe call means. Reads nothing but the error; the SDK's classes are told by their fields, so
// that this file needs no import of it.
// Sources: https://docs.stripe.com/error-handling, https://docs.stripe.com/rate-limits

export type StripeFailure =
  /** The object is not there (404 + resource_missing): also what the wrong key, mode or account answers. */
  | { kind: 'missing' }
  | { kind: 'rate_limited'; retryAfterMs: number | null }
  /** 401: the key is revoked or wrong. */
  | { kind: 'unauthorized' }
  /** 403: a restricted key lacks a permission. */
  | { kind: 'permission_missing' }
  /** 5xx, time-out, no or broken answer. */
  | { kind: 'unavailable'; detail: string }
  /** Stripe understood and refused: our request is wrong, or the event asks for nonsense. */
  | { kind: 'refused'; detail: string }

/** Marks an answer with status 200 that is not what was asked for (a proxy's page, another object). */
export class UnexpectedAnswer extends Error {
  readonly expected: string
  constructor(expected: string) {
    super(`Stripe's answer is not ${expected}`)
    this.name = 'UnexpectedAnswer'
    this.expected = expected
  }
}

type Facts = { type: string | null; status: number | null; code: string | null; retryAfter: string | null }

/** Classifies what a call of the Stripe client threw; null where it did not come from Stripe. */
export const readStripeFailure = (error: unknown): StripeFailure | null => {
  if (!(error instanceof Error)) return null
  if (error instanceof UnexpectedAnswer) return { kind: 'unavailable', detail: 'unexpected_answer' }
  if (error.name === 'TimeoutError' || error.name === 'AbortError')
    return { kind: 'unavailable', detail: 'timeout' }
  const facts = factsOf(error)
  return facts.type === null || !facts.type.startsWith('Stripe') ? null : classify(facts)
}

const classify = ({ type, status, code, retryAfter }: Facts): StripeFailure => {
  // A lock time-out of Stripe's own objects is sent as 429, a rate limit at times as 400.
  if (status === 429 || code === 'rate_limit' || code === 'lock_timeout') {
    return { kind: 'rate_limited', retryAfterMs: seconds(retryAfter) }
  }
  if (status === 401) return { kind: 'unauthorized' }
  if (status === 403) return { kind: 'permission_missing' }
  // A list filtered by an unknown customer answers 400 with the same code.
  if ((status === 404 || status === 400) && code === 'resource_missing') return { kind: 'missing' }
  if (status === null || status >= 500 || status === 404 || status === 409) {
    return {
      kind: 'unavailable',
      detail:
        status === null
          ? type === 'StripeConnectionError'
            ? 'connection'
            : 'broken_answer'
          : `status_${status}`,
    }
  }
  return { kind: 'refused', detail: code ?? `status_${status}` }
}

const factsOf = (error: Error): Facts => {
  const field = (name: string): unknown =>
    name in error ? (error as unknown as Record<string, unknown>)[name] : null
  const headers = field('headers')
  const retryAfter =
    typeof headers === 'object' && headers !== null
      ? (headers as Record<string, unknown>)['retry-after']
      : null
  const status = field('statusCode')
  return {
    type: text(field('type')),
    status: typeof status === 'number' ? status : null,
    code: text(field('code')),
    retryAfter: text(retryAfter),
  }
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

// An hour is the most that a header may make us wait; nonsense counts as absent.
const seconds = (header: string | null): number | null => {
  const value = header === null ? Number.NaN : Number(header)
  return Number.isFinite(value) && value >= 0 ? Math.min(value, 3_600) * 1_000 : null
}
