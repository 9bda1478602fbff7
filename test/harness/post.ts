// One delivery, as Stripe (or somebody else) would post it.
import { request } from 'node:http'
import { connect } from 'node:net'
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

/** Writes bytes to a socket as they are and says no more; resolves with the status of each answer until the end. */
export const postBytes = (url: string, text: string): Promise<number[]> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    let answered = ''
    const socket = connect(Number(port), hostname, () => socket.end(text))
    socket.on('data', (data) => (answered += data.toString('latin1')))
    socket.on('error', () => {})
    socket.on('close', () =>
      resolve([...answered.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status))),
    )
  })
