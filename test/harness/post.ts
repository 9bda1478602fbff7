// One delivery, as Stripe (or somebody else) would post it.
import { request } from 'node:http'
import { ACCOUNT } from './service.ts'
import { signedHeaders } from '../stripe-sim/sim.ts'

export type Posting = {
  /** undefined: signed now with the account's secret; null: no header. */
  signature?: string | null
  secret?: string
  /** Seconds. */
  timestamp?: number
  headers?: Record<string, string>
  path?: string
}

/** Posts a body; answers status and parsed body. */
export const postDelivery = async (
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  how: Posting = {},
) => {
  const signed = signedHeaders(body, how.secret ?? ACCOUNT.webhookSecret, how.timestamp)
  const headers: Record<string, string> = { 'content-type': 'application/json', ...signed, ...how.headers }
  if (how.signature === null) delete headers['stripe-signature']
  if (typeof how.signature === 'string') headers['stripe-signature'] = how.signature
  for (const name of Object.keys(headers)) if (headers[name] === '') delete headers[name]
  const response = await fetch(`${url}${how.path ?? '/webhooks/stripe'}`, { method: 'POST', headers, body })
  return {
    status: response.status,
    body: (await response.json().catch(() => ({}))) as Record<string, unknown>,
  }
}

/** Posts without fetch, so that lengths can lie and bodies can be chunked; resolves with the status, 0 for a reset. */
export const postRaw = (
  url: string,
  headers: Record<string, string>,
  chunks: readonly string[],
): Promise<number> =>
  new Promise((resolve) => {
    const call = request(`${url}/webhooks/stripe`, { method: 'POST', headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    call.on('error', () => resolve(0))
    for (const chunk of chunks) call.write(chunk)
    call.end()
  })
