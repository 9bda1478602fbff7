// Verifies a webhook's signature over the bytes as they came; parses nothing, logs nothing. Stripe's own verifier
// decodes the bytes first (two bodies may then verify alike) and accepts any time stamp in the future.
// Source: https://docs.stripe.com/webhooks#verify-manually
import { createHmac, timingSafeEqual } from 'node:crypto'
import { MINUTE_MS, type Instant } from '../time.ts'

/** Stripe's default tolerance; applied in both directions. */
const TOLERANCE_MS = 5 * MINUTE_MS
// While a secret is rolled Stripe signs with each; more than a few is not Stripe.
const MAX_SIGNATURES = 8

export type Verified =
  | { kind: 'valid' }
  | {
      kind: 'invalid'
      why: 'header_missing' | 'header_malformed' | 'timestamp_out_of_tolerance' | 'no_match'
    }

/** Is one of the header's `v1` signatures made by one of the secrets over `timestamp.body`, within the tolerance? */
export const verifySignature = (input: {
  body: Uint8Array
  header: string | null | undefined
  secrets: readonly string[]
  now: Instant
}): Verified => {
  if (input.header === null || input.header === undefined || input.header === '')
    return invalid('header_missing')
  const parsed = parseHeader(input.header)
  if (parsed === null) return invalid('header_malformed')
  const expected = input.secrets.map((secret) =>
    createHmac('sha256', secret).update(`${parsed.timestamp}.`).update(input.body).digest(),
  )
  // Every pair is compared, so that the time taken tells nothing.
  let match = false
  for (const signature of parsed.signatures) {
    for (const mac of expected) match = timingSafeEqual(signature, mac) || match
  }
  if (!match) return invalid('no_match')
  const skew = Math.abs(input.now - Number(parsed.timestamp) * 1_000)
  return skew > TOLERANCE_MS ? invalid('timestamp_out_of_tolerance') : { kind: 'valid' }
}

/** The header of a delivery as Stripe would sign it: for a test event of our own. */
export const signatureHeader = ({
  body,
  secret,
  now,
}: {
  body: string
  secret: string
  now: number
}): string => {
  const timestamp = Math.floor(now / 1_000)
  return `t=${timestamp},v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`
}

const invalid = (why: Extract<Verified, { kind: 'invalid' }>['why']): Verified => ({ kind: 'invalid', why })

const parseHeader = (header: string): { timestamp: string; signatures: Buffer[] } | null => {
  let timestamp: string | null = null
  const signatures: Buffer[] = []
  for (const part of header.split(',', 32)) {
    const [key, value = ''] = part.trim().split('=', 2)
    if (key === 't') {
      // Two stamps: one of them was not signed.
      if (timestamp !== null || !/^\d{1,12}$/.test(value)) return null
      timestamp = value
    }
    // What is not a SHA-256 in hex is skipped, not an error: the next one may match.
    if (key === 'v1' && /^[0-9a-f]{64}$/i.test(value) && signatures.length < MAX_SIGNATURES) {
      signatures.push(Buffer.from(value, 'hex'))
    }
  }
  return timestamp === null || signatures.length === 0 ? null : { timestamp, signatures }
}
