// The routes of the account itself: events, webhook endpoints, test clocks, and the session of the CLI's `listen`.

import { missing } from '../errors.ts'
import { createClock, deleteClock } from '../life/customers.ts'
import type { EndpointState } from '../records-platform.ts'
import { put } from '../state.ts'
import { clockWire, deletedClockWire } from '../wire/catalog.ts'
import { accountWire, deletedEndpointWire, endpointWire } from '../wire/endpoint.ts'
import { need } from '../world.ts'
import type { StripeEvent, World } from '../world.ts'
import { bool, given, int, metadataOf, str, strings } from './form.ts'
import { page, retrieve } from './routing.ts'
import type { Route, RouteContext } from './routing.ts'

const listEvents = (context: RouteContext) => {
  const { world, query } = context
  const type = str(query, 'type')
  const types = strings(query, 'types')
  const delivered = bool(query, 'delivery_success')
  const wanted = (event: StripeEvent) =>
    (type === undefined || matchesType(event.type, type)) &&
    (types.length === 0 || types.some((each) => matchesType(event.type, each))) &&
    (delivered === undefined || (event.pending_webhooks === 0) === delivered)
  return page(context, world.events.filter(wanted), (event) => event)
}

const matchesType = (type: string, pattern: string): boolean =>
  pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern

const eventNamed = (world: World, id: string): StripeEvent => {
  const event = world.events.find((each) => each.id === id)
  if (event === undefined) throw missing('event', id)
  return event
}

/** `stripe events resend`: to one endpoint, or to those who listen by the CLI. */
const retryEvent = ({ world, platform, ids: [id = ''], body }: RouteContext) => {
  const event = eventNamed(world, id)
  const endpoint = str(body, 'webhook_endpoint')
  if (endpoint === undefined) platform.tellListeners(world, event)
  else platform.resend(event, need(world, 'endpoint', endpoint, 'webhook_endpoint'))
  return event
}

const newEndpoint = ({ world, body }: RouteContext) => {
  const endpoint = put(world.store, 'endpoint', {
    id: world.id('we'),
    created: world.now(),
    url: str(body, 'url') ?? '',
    secret: `whsec_${world.requestId('s').slice(2)}`,
    types: strings(body, 'enabled_events'),
    apiVersion: str(body, 'api_version') ?? null,
    connect: bool(body, 'connect') ?? false,
    disabled: false,
    description: str(body, 'description') ?? null,
    metadata: metadataOf(body) ?? {},
  })
  return endpointWire(world, endpoint, true)
}

const changeEndpoint = ({ world, ids: [id = ''], body }: RouteContext) => {
  const endpoint = need(world, 'endpoint', id)
  const types = strings(body, 'enabled_events')
  const patch: Partial<EndpointState> = given({
    url: str(body, 'url'),
    disabled: bool(body, 'disabled'),
    description: str(body, 'description'),
    metadata: metadataOf(body),
  })
  Object.assign(endpoint, patch, types.length === 0 ? {} : { types })
  return endpointWire(world, endpoint)
}

export const platformRoutes: Route[] = [
  ['GET', '/v1/account', ({ world }) => accountWire(world)],
  ['GET', '/v1/events', listEvents],
  ['GET', '/v1/events/:id', ({ world, ids: [id = ''] }) => eventNamed(world, id)],
  ['POST', '/v1/events/:id/retry', retryEvent],
  retrieve('/v1/webhook_endpoints/:id', 'webhook_endpoint'),
  [
    'GET',
    '/v1/webhook_endpoints',
    (c) => page(c, c.world.store.endpoint.values(), (each) => endpointWire(c.world, each)),
  ],
  ['POST', '/v1/webhook_endpoints', newEndpoint],
  ['POST', '/v1/webhook_endpoints/:id', changeEndpoint],
  [
    'DELETE',
    '/v1/webhook_endpoints/:id',
    ({ world, ids: [id = ''] }) => {
      need(world, 'endpoint', id)
      world.store.endpoint.delete(id)
      return deletedEndpointWire(id)
    },
  ],
  ['POST', '/v1/stripecli/sessions', ({ world, platform }) => platform.openListener(world)],
  retrieve('/v1/test_helpers/test_clocks/:id', 'test_helpers.test_clock'),
  [
    'GET',
    '/v1/test_helpers/test_clocks',
    (c) => page(c, c.world.store.clock.values(), (each) => clockWire(c.world, each)),
  ],
  [
    'POST',
    '/v1/test_helpers/test_clocks',
    ({ world, body }) =>
      clockWire(world, createClock(world, (int(body, 'frozen_time') ?? 0) * 1000, str(body, 'name') ?? null)),
  ],
  [
    'POST',
    '/v1/test_helpers/test_clocks/:id/advance',
    ({ shop, ids: [id = ''], body }) => shop.advanceTestClock(id, (int(body, 'frozen_time') ?? 0) * 1000),
  ],
  [
    'DELETE',
    '/v1/test_helpers/test_clocks/:id',
    ({ world, ids: [id = ''] }) => {
      deleteClock(world, id)
      return deletedClockWire(id)
    },
  ],
]
