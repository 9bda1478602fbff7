// The HTTP root: which routes this process serves, what every answer has in common, and a server that stops without
// dropping a request. Must never log a header, a query or a body.
import { createAdaptorServer } from '@hono/node-server'
import { Hono, type MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { apiRoutes } from './api.ts'
import { openDenials } from './api/denials.ts'
import type { Context } from './context.ts'
import { healthRoutes } from './health.ts'
import { webhookRoutes } from './inbox/receive.ts'
import type { Log } from './log.ts'
import { partsOf } from './operate/parts.ts'
import { isConnectionLoss, sqlState } from './postgres/failure.ts'
import { problem } from './problem.ts'

export type Serve = 'webhooks' | 'api' | 'both' | 'metrics'

/** Everything that this process answers. Health is always among it. */
export const createApp = (ctx: Context, { serve }: { serve: Serve }): Hono => {
  const app = new Hono()
  app.use(logRequest(ctx.log), secure)
  app.route('/', healthRoutes(ctx, serve === 'webhooks' ? ctx.ingest : ctx.api))
  if (serve === 'webhooks' || serve === 'both') app.route('/webhooks', webhookRoutes(ctx))
  if (serve === 'api' || serve === 'both')
    app.route('/', apiRoutes({ ...ctx, denials: openDenials(ctx.api, ctx.log), operate: partsOf(ctx) }))
  if (serve === 'metrics') app.get('/metrics', async () => metricsOf(ctx))
  app.notFound(() => problem('not_found'))
  app.onError((error, c) => {
    const away = isConnectionLoss(error) || sqlState(error) === LOCK_NOT_AVAILABLE
    ctx.log.error({ method: c.req.method, route: routeOf(c), away, err: error }, 'http.error')
    return away ? problem('unavailable', { headers: { 'retry-after': '5' } }) : problem('internal_error')
  })
  return app
}

const metricsOf = async ({ metrics }: Context): Promise<Response> =>
  new Response(await metrics.text(), {
    headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' },
  })

// A worker holds the customer's lock while Stripe answers; the caller may come again.
const LOCK_NOT_AVAILABLE = '55P03'

const QUIET = new Set(['/livez', '/readyz', '/metrics', '/webhooks/stripe', '/webhooks/stripe/:account'])

// Probes are no news, and deliveries have a line of their own (inbox.receive).
const logRequest =
  (log: Log): MiddlewareHandler =>
  async (c, next) => {
    const startedAt = performance.now()
    await next()
    const route = routeOf(c)
    const line = {
      method: c.req.method,
      route,
      status: c.res.status,
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
    }
    if (QUIET.has(route)) log.debug(line, 'http.request')
    else log.info(line, 'http.request')
  }

/** The pattern of the route, never the path: paths hold tenant ids. */
const routeOf = (c: Parameters<MiddlewareHandler>[0]): string =>
  matchedRoutes(c).findLast(({ path }) => !path.endsWith('*'))?.path ?? 'none'

const secure: MiddlewareHandler = async (c, next) => {
  await next()
  c.res.headers.set('x-content-type-options', 'nosniff')
}

export type Listening = {
  port: number
  /** Takes no more connections, answers what is under way, and cuts what is left after `graceMs`. */
  close: (graceMs: number) => Promise<void>
}

// Headers and body of a slow client must not hold a socket for long; keep-alive outlasts a load balancer's 60 s.
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 2_000,
}
// Stripe sends a dozen.
const HEADERS_MAX = 64

/** Serves the app over HTTP. Port 0 takes any that is free. */
export const listen = async (
  app: Hono,
  options: { host: string; port: number; log: Log },
): Promise<Listening> => {
  const server = createAdaptorServer({ fetch: app.fetch, createServer, serverOptions: TIMEOUTS }) as Server
  server.maxHeadersCount = HEADERS_MAX
  const closing = closer(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  server.on('error', (error) => options.log.error({ err: error }, 'http.server'))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : options.port
  return { port, close: closing }
}

const IDLE_POLL_MS = 100

// server.close() waits for keep-alive connections, which would live for another minute: those under way are told to
// close with their answer, those without a request are closed as soon as they are idle.
const closer = (server: Server): Listening['close'] => {
  const open = new Set<ServerResponse>()
  let closed: Promise<void> | null = null
  server.prependListener('request', (_request, response: ServerResponse) => {
    open.add(response)
    response.once('close', () => open.delete(response))
    if (closed !== null) endWithAnswer(response)
  })
  return (graceMs) => {
    closed ??= new Promise<void>((resolve) => {
      const idle = setInterval(() => server.closeIdleConnections(), IDLE_POLL_MS)
      const cut = setTimeout(() => server.closeAllConnections(), graceMs)
      server.close(() => {
        clearInterval(idle)
        clearTimeout(cut)
        resolve()
      })
      for (const response of open) endWithAnswer(response)
    })
    return closed
  }
}

const endWithAnswer = (response: ServerResponse) => {
  if (!response.headersSent) response.setHeader('connection', 'close')
}
