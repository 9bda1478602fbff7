// `stripe listen` of the official CLI: a session by the API, then events over a WebSocket; the CLI posts them on and
// reports what it was answered. The protocol is not documented: this is what CLI 1.52 sends and accepts.

import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import { signedHeaders } from '../signing.ts'
import { LATEST_VERSION } from '../world.ts'
import type { StripeEvent, World } from '../world.ts'

const SUBPROTOCOL = 'stripecli-devproxy-v1'
const PATH = '/stripecli/subscribe'
// So often the CLI takes a fresh connection by itself.
const RECONNECT_DELAY_S = 600

export type ForwardedAnswer = { eventId: string; status: number; forwardUrl: string }
/** `unacked`: by conversation, what the CLI has not said that it has; sent again over its next connection. */
type Session = { world: World; socket: WebSocket | null; unacked: Map<string, string> }

export const createListeners = (server: Server) => {
  const sessions = new Map<string, Session>()
  const conversations = new Map<string, string>()
  const answers: ForwardedAnswer[] = []
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => SUBPROTOCOL })

  const heard = (data: string): void => {
    const message = JSON.parse(data) as Record<string, unknown>
    for (const { unacked } of sessions.values()) unacked.delete(String(message['webhook_conversation_id']))
    if (message['type'] !== 'webhook_response') return
    const eventId = conversations.get(String(message['webhook_conversation_id'])) ?? ''
    answers.push({ eventId, status: Number(message['status']), forwardUrl: String(message['forward_url']) })
  }

  server.on('upgrade', (request, stream, head) => {
    const session = sessions.get(String(request.headers['websocket-id']))
    if (session === undefined || !String(request.url).startsWith(PATH)) return void stream.destroy()
    sockets.handleUpgrade(request, stream, head, (socket) => {
      session.socket = socket
      for (const message of session.unacked.values()) socket.send(message)
      socket.on('message', (data: Buffer) => heard(data.toString()))
      socket.on('close', () => {
        if (session.socket === socket) session.socket = null
      })
    })
  })

  return {
    answers: (): ForwardedAnswer[] => [...answers],
    connected: (): number => [...sessions.values()].filter(({ socket }) => socket !== null).length,
    open: (world: World, port: number) => {
      const id = `cliws_${randomUUID().replaceAll('-', '')}`
      sessions.set(id, { world, socket: null, unacked: new Map() })
      return {
        reconnect_delay: RECONNECT_DELAY_S,
        secret: world.account.webhookSecret,
        websocket_authorized_feature: 'webhooks',
        websocket_id: id,
        websocket_url: `ws://127.0.0.1:${port}${PATH}`,
        default_version: world.version,
        latest_version: LATEST_VERSION,
        display_connect_filter_warning: false,
      }
    },
    tell: (world: World, event: StripeEvent): void => {
      for (const session of sessions.values()) {
        if (session.world !== world) continue
        const payload = JSON.stringify(event, null, 2)
        const conversation = `wc_${randomUUID().replaceAll('-', '')}`
        conversations.set(conversation, event.id)
        const message = messageFor(payload, world.account.webhookSecret, conversation)
        session.unacked.set(conversation, message)
        session.socket?.send(message)
      }
    },
    close: (): void => {
      for (const { socket } of sessions.values()) socket?.terminate()
      sockets.close()
    },
  }
}

export type Listeners = ReturnType<typeof createListeners>

const messageFor = (payload: string, secret: string, conversation: string): string =>
  JSON.stringify({
    type: 'webhook_event',
    endpoint: { api_version: null },
    event_payload: payload,
    http_headers: headersOf(payload, secret),
    webhook_conversation_id: conversation,
    webhook_id: `wh_${conversation.slice(3)}`,
  })

const headersOf = (payload: string, secret: string): Record<string, string> => {
  const headers = signedHeaders(payload, secret)
  return {
    'Content-Type': headers['content-type'] ?? '',
    'Stripe-Signature': headers['stripe-signature'] ?? '',
    'User-Agent': headers['user-agent'] ?? '',
  }
}
