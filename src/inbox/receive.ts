// POST -> verify -> insert + enqueue in one transaction -> 200. What carries a valid signature and is JSON ends in
// 2xx once stored, never in 4xx: Stripe would retry it for days and then disable the endpoint.
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { Context } from '../context.ts'
import type { StripeAccount } from '../stripe/accounts.ts'
import { verifySignature } from '../stripe/webhook.ts'
import { deliveryFrom } from './delivery.ts'
import { readEnvelope } from './envelope.ts'
import type { EventKey } from './ack-queries.ts'
import { openAcks, type Ack, type Acks } from './ack.ts'
import { openStore, type Delivery, type Store, type Stored } from './store.ts'

// Stripe's own bodies stay far below; a larger one is not from Stripe.
const BODY_MAX_BYTES = 1_048_576

export type ReceiveParts = Pick<
  Context,
  'accounts' | 'config' | 'ingest' | 'log' | 'metrics' | 'queue' | 'draining' | 'now' | 'pinLivemode'
>

/** `POST /stripe` (account `default`) and `POST /stripe/:account`. */
export const webhookRoutes = (parts: ReceiveParts): Hono => {
  const { ackWaitMs } = parts.config
  const { ingest: database, queue, draining } = parts
  const inbox: Inbox = {
    store: openStore(database, queue, ackWaitMs),
    acks: ackWaitMs === null ? null : openAcks({ database, queue, draining }, ackWaitMs),
  }
  const limit = bodyLimit({
    maxSize: BODY_MAX_BYTES,
    onError: (c) => c.json({ error: 'body_too_large' }, 413),
  })
  const receive = async (request: Request, name: string) => {
    const account = parts.accounts.named(name)
    return account === null
      ? answer(404, { error: 'unknown_account' })
      : receiveDelivery(parts, inbox, account, request)
  }
  return new Hono()
    .post('/stripe', limit, (c) => receive(c.req.raw, 'default'))
    .post('/stripe/:account', limit, (c) => receive(c.req.raw, c.req.param('account')))
}

const answer = (status: number, body: object): Response => Response.json(body, { status })

type Inbox = {
  store: Store
  /** Null: answered as soon as it is stored. */
  acks: Acks | null
}

const receiveDelivery = async (
  parts: ReceiveParts,
  inbox: Inbox,
  account: StripeAccount,
  request: Request,
) => {
  if (parts.draining()) return unavailable()
  if (!isPlainJson(request)) return answer(415, { error: 'unsupported_media_type' })
  const body = await readBody(request)
  if (body === null) return answer(400, { error: 'body_cut' })
  const verified = verifySignature({
    body,
    header: request.headers.get('stripe-signature'),
    secrets: account.secrets,
    now: parts.now(),
  })
  if (verified.kind === 'invalid') {
    parts.log.warn({ account: account.name, why: verified.why }, 'inbox.signature_invalid')
    parts.metrics.delivery(account.name, 'signature_invalid')
    return answer(400, { error: 'signature_invalid' })
  }
  const parsed = parseJson(body)
  if (parsed === null) return answer(400, { error: 'not_json' })
  return storeVerified(parts, inbox, account, parsed)
}

const storeVerified = async (
  parts: ReceiveParts,
  { store, acks }: Inbox,
  account: StripeAccount,
  parsed: ParsedBody,
) => {
  try {
    const delivery = await deliveryOf(parts, account, parsed)
    const result = await store.put(delivery)
    parts.metrics.delivery(account.name, result)
    const facts = {
      account: account.name,
      event_id: delivery.eventId,
      type: delivery.type,
      result,
      reason: delivery.ignoredReason,
    }
    // Somebody else's events at our door: a wrong endpoint, which nobody would notice otherwise.
    const foreign =
      delivery.ignoredReason === 'livemode_mismatch' || delivery.ignoredReason === 'account_mismatch'
    if (foreign) parts.log.error({ ...facts, alert: delivery.ignoredReason }, 'inbox.receive')
    else parts.log.info(facts, 'inbox.receive')
    return acks === null || result === 'ignored'
      ? answer(200, { received: true, result })
      : await afterEffect(acks, delivery, result)
  } catch (error) {
    parts.log.error({ account: account.name, err: error }, 'inbox.not_stored')
    parts.metrics.delivery(account.name, 'not_stored')
    return unavailable()
  }
}

const afterEffect = async (acks: Acks, key: EventKey, result: Stored): Promise<Response> => {
  const ack = await (result === 'stored' ? acks.wait(key) : acks.join(key))
  return answer(ACK_STATUS[ack], { received: true, result, effect: ack })
}

// Received and processed are two facts: what is not 200 here was received all the same.
const ACK_STATUS = { settled: 200, failed: 500, waiting: 503, awaited: 409 } as const satisfies Record<
  Ack,
  number
>

const unavailable = () =>
  Response.json(
    { error: 'not_stored', todo: 'deliver it again' },
    { status: 503, headers: { 'retry-after': '5' } },
  )

// Stripe sends `application/json; charset=utf-8`, never compressed.
const isPlainJson = (request: Request): boolean => {
  const [type] = (request.headers.get('content-type') ?? '').split(';', 1)
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  return type?.trim().toLowerCase() === 'application/json' && encoding.toLowerCase() === 'identity'
}

// A sender that went away in the middle is no failure of ours; what the size limit throws is for the limit.
const readBody = async (request: Request): Promise<Uint8Array | null> => {
  try {
    return new Uint8Array(await request.arrayBuffer())
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ECONNRESET') return null
    throw error
  }
}

type ParsedBody = { text: string; value: unknown }

// Strict UTF-8: bytes that decode to a replacement character would not be what was signed.
const parseJson = (body: Uint8Array): ParsedBody | null => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    return { text, value: JSON.parse(text) as unknown }
  } catch {
    return null
  }
}

const deliveryOf = async (
  parts: ReceiveParts,
  account: StripeAccount,
  { text, value }: ParsedBody,
): Promise<Delivery> => {
  const envelope = readEnvelope(value)
  const livemode = await parts.pinLivemode(account, envelope.livemode)
  return deliveryFrom(account, { text, envelope }, { livemode, source: 'webhook' })
}
