// Wire objects of webhook endpoints and the account itself. See catalog.ts for the conventions.

import type Stripe from 'stripe'
import type { EndpointState } from '../records-platform.ts'
import type { World } from '../world.ts'
import type { Wire } from './catalog.ts'

/** The secret is told once, when the endpoint is made. */
export const endpointWire = (world: World, endpoint: EndpointState, withSecret = false) =>
  ({
    id: endpoint.id,
    object: 'webhook_endpoint',
    api_version: endpoint.apiVersion,
    application: null,
    created: endpoint.created,
    description: endpoint.description,
    enabled_events: [...endpoint.types],
    livemode: world.account.livemode,
    metadata: { ...endpoint.metadata },
    ...(withSecret ? { secret: endpoint.secret } : {}),
    status: endpoint.disabled ? 'disabled' : 'enabled',
    url: endpoint.url,
  }) satisfies Wire<Stripe.WebhookEndpoint>

export const deletedEndpointWire = (id: string) =>
  ({ id, object: 'webhook_endpoint', deleted: true }) satisfies Wire<Stripe.DeletedWebhookEndpoint>

export const accountWire = (world: World) =>
  ({
    id: world.account.id,
    object: 'account',
    charges_enabled: true,
    controller: { type: 'account' },
    country: 'US',
    default_currency: 'usd',
    details_submitted: true,
    email: `${world.account.name}@example.com`,
    payouts_enabled: true,
    type: 'standard',
  }) satisfies Partial<Wire<Stripe.Account>>
