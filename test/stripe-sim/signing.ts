// Stripe's webhook signature. The timestamp is real time even if the simulated clock is elsewhere, because
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
