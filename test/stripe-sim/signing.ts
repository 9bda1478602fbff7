// Stripe's webhook deliveries: signature and POST. The timestamp is real time even if the simulated clock is elsewhere, because
// receivers compare it with their own clock; each try is signed afresh.

import { createHmac } from 'node:crypto'

export const signedHeaders = (
  body: string | Uint8Array,
  secret: string,
  timestampSeconds: number = Math.floor(Date.now() / 1000),
): Record<string, string> => {
  const v1 = createHmac('sha256', secret).update(`${timestampSeconds}.`).update(body).digest('hex')
  return {
    'content-type': 'application/json; charset=utf-8',
    'stripe-signature': `t=${timestampSeconds},v1=${v1}`,
    'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
  }
}

// Stripe sends indented JSON; the signature covers these very bytes.
export const textOf = (event: object): string => JSON.stringify(event, null, 2)

/** One delivery; status 0: time-out or no connection. */
export const send = async (
  url: string,
  body: string,
  secret: string,
  timeoutMs: number,
  timestamp?: number,
) => {
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: signedHeaders(body, secret, timestamp),
      // To Stripe a redirect is a failure.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    return { status: response.status, body: await response.text() }
  } catch (error) {
    return { status: 0, body: error instanceof Error ? error.message : String(error) }
  }
}
