// The HTTP face: who is calling, which fault comes first, which route answers, and the answer in Stripe's
// form.

import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { FAILURES, apiError, errorText, isApiError, unexpected, wrongParameter } from '../errors.ts'
import type { ApiError } from '../errors.ts'
import type { Fault, FaultEngine, FaultTarget } from '../faults.ts'
import { whoCalls } from './auth.ts'
import { parseForm, str, strings } from './form.ts'
import { expand, worldWith } from './lookup.ts'
import type { Honesty } from '../honesty/check.ts'
import { witness } from '../honesty/witness.ts'
import { eraOf, render } from '../wire/render.ts'
import { routes } from './routes.ts'
import type { Platform, RouteContext } from './routing.ts'
import type { Shop } from '../shop.ts'
import { storeAsOf } from '../state.ts'
import { LATEST_VERSION } from '../world.ts'
import type { World } from '../world.ts'

export type ApiCall = {
  account: string | null
  method: string
  path: string
  query: string
  /** 0 when no answer was given: reset, hang. */
  status: number
  /** Real time, ms. */
  at: number
}
export type Tenancy = { world: World; shop: Shop; replies: Map<string, Replay> }
type Replay = { print: string; status: number; body: string }
type Call = { request: IncomingMessage; response: ServerResponse; url: URL; body: string; log: ApiCall }
export type ServerParts = {
  accounts: Tenancy[]
  faults: FaultEngine
  calls: ApiCall[]
  platform: Platform
  /** Refuses parameters that the SDK's types do not have, where the request names their version. */
  honesty: Honesty | null
}

export const createApiServer = (parts: ServerParts) =>
  createServer((request, response) => {
    void readBody(request).then((body) => {
      const url = new URL(request.url ?? '/', 'http://sim')
      const log: ApiCall = {
        account: null,
        method: request.method ?? 'GET',
        path: url.pathname,
        query: url.search,
        status: 0,
        at: Date.now(),
      }
      parts.calls.push(log)
      return handle(parts, { request, response, url, body, log })
    })
  })

const handle = async (parts: ServerParts, call: Call): Promise<void> => {
  let tenancy: Tenancy | null = null
  try {
    tenancy = whoCalls(parts.accounts, call.request)
    call.log.account = tenancy.world.account.name
    const target: FaultTarget = {
      account: tenancy.world.account.name,
      method: call.log.method,
      path: call.log.path,
      startingAfter: call.url.searchParams.get('starting_after'),
    }
    const fault = parts.faults.draw(target)
    if (fault !== null) parts.faults.took(fault, target)
    if (fault !== null && (await interrupt(call, tenancy, fault))) return
    const answered = answer(parts, tenancy, call, fault !== null && 'stale' in fault)
    if (fault !== null && 'reset' in fault) return void call.request.socket.destroy()
    send(call, tenancy, answered.status, answered.body, fault, answered.replayed)
  } catch (error) {
    const known = isApiError(error) ? error : unexpected(error)
    sendError(call, tenancy, known)
  }
}

/** Faults that replace the answer; true when the call is over. */
const interrupt = async (call: Call, tenancy: Tenancy, fault: Fault): Promise<boolean> => {
  if ('delayMs' in fault) await new Promise((resolve) => setTimeout(resolve, fault.delayMs))
  if ('hang' in fault) return true
  if ('reset' in fault && fault.afterEffect !== true) {
    call.request.socket.destroy()
    return true
  }
  if ('html' in fault) {
    call.response.setHeader('content-type', 'text/html')
    write(call, 502, '<html><body><h1>502 Bad Gateway</h1></body></html>')
    return true
  }
  if ('notFoundWithoutError' in fault) {
    write(call, 404, JSON.stringify({ message: 'Not Found' }))
    return true
  }
  if ('failPage' in fault) throw FAILURES[500]()
  if ('status' in fault) {
    if ('retryAfter' in fault && fault.retryAfter !== undefined) {
      call.response.setHeader('retry-after', String(fault.retryAfter))
    }
    if ('shouldRetry' in fault && fault.shouldRetry !== undefined) {
      call.response.setHeader('stripe-should-retry', String(fault.shouldRetry))
    }
    sendError(call, tenancy, FAILURES[fault.status]())
    return true
  }
  return false
}

type Answer = { status: number; body: string; replayed: boolean }

const answer = (parts: ServerParts, tenancy: Tenancy, call: Call, stale: boolean): Answer => {
  const { log, request } = call
  const key = log.method === 'POST' ? header(request, 'idempotency-key') : null
  const print = `${log.method} ${log.path} ${call.body}`
  const before = key === null ? undefined : tenancy.replies.get(key)
  if (before !== undefined && before.print !== print) {
    throw apiError(400, {
      type: 'idempotency_error',
      message:
        'Keys for idempotent requests can only be used with the same parameters they were first used with.',
    })
  }
  if (before !== undefined) return { status: before.status, body: before.body, replayed: true }
  const query = parseForm(call.url.search)
  const body = parseForm(call.body)
  const world = stale ? asItWas(tenancy.world, call) : tenancy.world
  world.request = { id: tenancy.world.requestId('req'), idempotency_key: key }
  try {
    const { shop } = tenancy
    const context = { world, shop, platform: parts.platform, path: log.path, ids: [], query, body }
    const current = header(request, 'stripe-version') === LATEST_VERSION
    const result = route(context, log.method, current ? parts.honesty : null)
    const paths = [...strings(query, 'expand'), ...strings(body, 'expand')]
    const version = header(request, 'stripe-version') ?? world.version
    const said = render(expand(world, result, paths), version)
    if (eraOf(version) === 'item' && !UNTYPED.test(log.path)) witness(said, `${log.method} ${log.path}`)
    const text = JSON.stringify(said, null, 2)
    if (key !== null) tenancy.replies.set(key, { print, status: 200, body: text })
    return { status: 200, body: text, replayed: false }
  } finally {
    world.request = { id: null, idempotency_key: null }
  }
}

// Stripe's own tools, which the SDK does not type; and events, which were heard when they were made: a test's own may
// stand among them.
const UNTYPED = /^\/v1\/(payment_pages|stripecli|events)\b/

const route = (context: RouteContext, method: string, honesty: Honesty | null): object => {
  const parts = context.path.split('/')
  for (const [wanted, pattern, run] of routes) {
    const ids = wanted === method ? matchPath(pattern.split('/'), parts) : null
    if (ids === null) continue
    const [problem] = honesty?.paramProblems(method, pattern, { ...context.query, ...context.body }) ?? []
    if (problem !== undefined) throw wrongParameter(problem)
    return run({ ...context, ids })
  }
  throw apiError(404, {
    type: 'invalid_request_error',
    message: `Unrecognized request URL (${method}: ${context.path}).`,
  })
}

const matchPath = (pattern: string[], parts: string[]): string[] | null => {
  if (pattern.length !== parts.length) return null
  const ids: string[] = []
  for (const [index, part] of pattern.entries()) {
    const actual = parts[index] ?? ''
    if (part.startsWith(':')) ids.push(decodeURIComponent(actual))
    else if (part !== actual) return null
  }
  return ids
}

// The customer the request is about, or the one that changed last, as before its last change.
const asItWas = (world: World, call: Call): World => {
  const id = str(parseForm(call.url.search), 'customer') ?? call.log.path.split('/')[3] ?? ''
  const customer = world.store.customer.has(id)
    ? id
    : (world.store.subscription.get(id)?.customer ??
      world.store.invoice.get(id)?.customer ??
      world.lastChanged)
  const snapshot = world.history.get(customer ?? '')?.at(-1)
  return snapshot === undefined ? world : worldWith(world, storeAsOf(world.store, snapshot))
}

const sendError = (call: Call, tenancy: Tenancy | null, error: ApiError): void => {
  const requestId = tenancy?.world.requestId('req') ?? 'req_unauthenticated'
  send(call, tenancy, error.httpStatus, errorText(error, requestId), null, false, requestId)
}

const send = (
  call: Call,
  tenancy: Tenancy | null,
  status: number,
  body: string,
  fault: Fault | null,
  replayed: boolean,
  requestId = tenancy?.world.requestId('req') ?? 'req_unauthenticated',
): void => {
  const { response } = call
  response.setHeader('request-id', requestId)
  if (tenancy !== null)
    response.setHeader('stripe-version', header(call.request, 'stripe-version') ?? tenancy.world.version)
  if (replayed) response.setHeader('idempotent-replayed', 'true')
  if (status < 429 && !response.hasHeader('stripe-should-retry'))
    response.setHeader('stripe-should-retry', 'false')
  if (fault === null || !('truncate' in fault)) return write(call, status, body)
  response.setHeader('content-length', Buffer.byteLength(body))
  call.log.status = status
  response.writeHead(status)
  response.write(body.slice(0, Math.floor(body.length / 2)), () => response.destroy())
}

const write = ({ response, log }: Call, status: number, body: string): void => {
  log.status = status
  if (!response.hasHeader('content-type')) response.setHeader('content-type', 'application/json')
  response.writeHead(status)
  response.end(body)
}

const header = (request: IncomingMessage, name: string): string | null => {
  const value = request.headers[name]
  return typeof value === 'string' ? value : null
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
