// The API of the host product: read what a tenant may use, say which tenant a Stripe customer is, have it read now. Routes
// parse, call one operation and render; they must never log a token or a body.
import { Hono, type Context as Call } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { allow, type AuthParts, type Caller } from './api/auth.ts'
import { BODY_MAX_BYTES, badBody, isJson, jsonOf, notAllowed } from './api/body.ts'
import { openApiDocument } from './api/openapi.ts'
import { operateRoutes } from './api/operate.ts'
import { linkBody, reconcileBody } from './api/schemas.ts'
import {
  etagOf,
  readTenant,
  readTenantVersion,
  type ReadFeature,
  type ReadTenant,
} from './entitlements/read.ts'
import { isTenantId, TENANT_MAX_CHARS } from './ids.ts'
import { linkCustomer } from './operate/link.ts'
import type { Parts } from './operate/parts.ts'
import { reconcileNow } from './operate/reconcile.ts'
import { problem } from './problem.ts'
import { SECOND_MS } from './time.ts'

export type ApiParts = AuthParts & { operate: Parts }

/** Everything under `/v1`, and `/openapi.json`. */
export const apiRoutes = (parts: ApiParts): Hono<Caller> => {
  const limit = bodyLimit({ maxSize: BODY_MAX_BYTES, onError: () => problem('body_too_large') })
  const document = JSON.stringify(openApiDocument())
  return new Hono<Caller>()
    .get('/openapi.json', () => new Response(document, { headers: { 'content-type': 'application/json' } }))
    .get('/v1/tenants/:tenant/entitlements', allow(parts, 'read'), (c) =>
      readEntitlements(parts, c, c.req.param('tenant'), (body) => body),
    )
    .all('/v1/tenants/:tenant/entitlements', () => notAllowed('GET, HEAD'))
    .get('/v1/tenants/:tenant/entitlements/:feature', allow(parts, 'read'), (c) =>
      readEntitlements(parts, c, c.req.param('tenant'), (body) => featureOf(body, c.req.param('feature'))),
    )
    .all('/v1/tenants/:tenant/entitlements/:feature', () => notAllowed('GET, HEAD'))
    .put('/v1/tenants/:tenant/customer', allow(parts, 'operate'), limit, (c) =>
      putCustomer(parts, c, c.req.param('tenant')),
    )
    .all('/v1/tenants/:tenant/customer', () => notAllowed('PUT'))
    .post('/v1/reconcile', allow(parts, 'operate'), limit, (c) => postReconcile(parts, c))
    .all('/v1/reconcile', () => notAllowed('POST'))
    .route(
      '/',
      operateRoutes(parts, () => parts.operate),
    )
}

/** One feature of a tenant: `allowed` is what the host asks for. */
export type OneFeature = Pick<
  ReadTenant,
  'tenant' | 'as_of' | 'stale' | 'revision' | 'revocations_held_until'
> & {
  feature: string
  allowed: boolean
} & (
    | ReadFeature
    | { value: null; state: null; source: null; from: null; until: null; until_kind: null; because: [] }
  )

const ABSENT = {
  value: null,
  state: null,
  source: null,
  from: null,
  until: null,
  until_kind: null,
  because: [],
} as const

const featureOf = ({ tenant, features, ...rest }: ReadTenant, feature: string): OneFeature => {
  const given = Object.hasOwn(features, feature) ? features[feature] : undefined
  const { as_of, stale, revision, revocations_held_until } = rest
  const common = { tenant, feature, as_of, stale, revision, revocations_held_until }
  return given === undefined
    ? { ...common, allowed: false, ...ABSENT, because: [] }
    : { ...common, allowed: given.value !== false, ...given }
}

const readEntitlements = async (
  { operate }: ApiParts,
  c: Pick<Call, 'req'>,
  tenant: string,
  shape: (body: ReadTenant) => object,
): Promise<Response> => {
  if (!isTenantId(tenant)) return badTenant()
  return operate.database.run(async (db) => {
    const version = await readTenantVersion(db, tenant)
    if (version === null) return problem('unknown_tenant')
    const headers = {
      etag: etagOf(version),
      'cache-control': 'private, max-age=5, stale-if-error=86400',
      vary: 'Authorization',
    }
    if (isKnown(c.req.header('if-none-match'), headers.etag))
      return new Response(null, { status: 304, headers })
    const body = await readTenant(db, tenant)
    return body === null ? problem('unknown_tenant') : Response.json(shape(body), { headers })
  })
}

const putCustomer = async (
  { operate }: ApiParts,
  c: Pick<Call, 'req'>,
  tenant: string,
): Promise<Response> => {
  if (!isTenantId(tenant)) return badTenant()
  if (!isJson(c.req.header('content-type'))) return problem('unsupported_media_type')
  const parsed = linkBody.safeParse(await jsonOf(c))
  if (!parsed.success) return badBody(parsed.error)
  const { account, customer } = parsed.data
  const result = await linkCustomer(operate, { account, customerId: customer, tenantId: tenant, by: 'api' })
  switch (result.kind) {
    case 'linked':
    case 'unchanged':
      return Response.json(
        { tenant, account, customer, result: result.kind },
        { headers: { 'cache-control': 'no-store' } },
      )
    case 'conflict':
      return problem(result.reason, { detail: result.detail })
    case 'unknown_account':
      return problem('unknown_account')
  }
}

// 200: read since. 202: still under way, with what is known now.
const postReconcile = async ({ operate }: ApiParts, c: Pick<Call, 'req'>): Promise<Response> => {
  if (!isJson(c.req.header('content-type'))) return problem('unsupported_media_type')
  const parsed = reconcileBody.safeParse(await jsonOf(c))
  if (!parsed.success) return badBody(parsed.error)
  const { tenant, customer, account, wait_seconds: wait } = parsed.data
  const input = { whom: tenant ?? customer ?? '', account, waitMs: wait * SECOND_MS }
  const answer = await reconcileNow(operate, input, null)
  if (answer.kind === 'refused') return problem('not_found', { detail: answer.message })
  const { data } = answer
  return Response.json(data, { status: data.settled ? 200 : 202, headers: { 'cache-control': 'no-store' } })
}

// Weak comparison, as RFC 9110 has it for If-None-Match.
const isKnown = (header: string | undefined, etag: string): boolean => {
  if (header === undefined) return false
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '')
  return header.trim() === '*' || header.split(',').some((tag) => opaque(tag) === opaque(etag))
}

const badTenant = () =>
  problem('bad_request', { detail: `tenant: expected 1 to ${TENANT_MAX_CHARS} printable characters` })
