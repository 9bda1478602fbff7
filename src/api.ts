// The API of the host product: read what a tenant may use, say which tenant a Stripe customer is. Routes parse, call
// one operation and render; they must never log a token or a body.
import { Hono, type Context as Call, type MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { z } from 'zod'
import type { Context } from './context.ts'
import { etagOf, readTenant, readTenantVersion } from './entitlements/read.ts'
import { isTenantId, TENANT_MAX_CHARS } from './ids.ts'
import { linkCustomer } from './inbox/operate.ts'
import { sqlState } from './postgres/failure.ts'
import { problem } from './problem.ts'
import type { Scope } from './tokens.ts'

export type ApiParts = Pick<Context, 'accounts' | 'api' | 'queue' | 'tokens'>

// A link has two short fields.
const BODY_MAX_BYTES = 16_384

/** `/v1/tenants/:tenant/entitlements` and `/v1/tenants/:tenant/customer`. */
export const apiRoutes = (parts: ApiParts): Hono => {
  const limit = bodyLimit({ maxSize: BODY_MAX_BYTES, onError: () => problem('body_too_large') })
  return new Hono()
    .get('/v1/tenants/:tenant/entitlements', allow(parts, 'read'), (c) =>
      readEntitlements(parts, c, c.req.param('tenant')),
    )
    .all('/v1/tenants/:tenant/entitlements', () => notAllowed('GET, HEAD'))
    .put('/v1/tenants/:tenant/customer', allow(parts, 'operate'), limit, (c) =>
      putCustomer(parts, c, c.req.param('tenant')),
    )
    .all('/v1/tenants/:tenant/customer', () => notAllowed('PUT'))
}

const notAllowed = (methods: string) => problem('method_not_allowed', { headers: { allow: methods } })

const readEntitlements = async (parts: ApiParts, c: Call, tenant: string): Promise<Response> => {
  if (!isTenantId(tenant)) return badTenant()
  return parts.api.run(async (db) => {
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
    return body === null ? problem('unknown_tenant') : Response.json(body, { headers })
  })
}

const putCustomer = async (parts: ApiParts, c: Call, tenant: string): Promise<Response> => {
  if (!isTenantId(tenant)) return badTenant()
  if (!isJson(c.req.header('content-type'))) return problem('unsupported_media_type')
  const parsed = link.safeParse(await jsonOf(c))
  if (!parsed.success) return problem('bad_request', { detail: problemsOf(parsed.error) })
  const { account, customer } = parsed.data
  const result = await linkOnce(parts, { account, customerId: customer, tenantId: tenant, by: 'api' })
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

const link = z.strictObject({
  account: z.string().min(1).max(63).default('default'),
  customer: z.string().regex(/^cus_[\x21-\x7e]{1,251}$/, 'expected an id that begins with cus_'),
})

// Two customers that are linked to one tenant at once hold different locks; the key in the database stops the second.
const linkOnce = async (...args: Parameters<typeof linkCustomer>): ReturnType<typeof linkCustomer> => {
  try {
    return await linkCustomer(...args)
  } catch (error) {
    if (sqlState(error) !== '23505') throw error
    return {
      kind: 'conflict',
      reason: 'ambiguous_customer_linkage',
      detail: 'another link was made at the same time',
    }
  }
}

const allow =
  (parts: ApiParts, scope: Scope): MiddlewareHandler =>
  async (c, next) => {
    const refused = authorize(parts, c.req.header('authorization'), scope)
    if (refused !== null) return refused
    return next()
  }

const authorize = ({ tokens }: ApiParts, header: string | undefined, scope: Scope): Response | null => {
  const bearer = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1]
  if (bearer === undefined) return problem('token_missing', challenge(''))
  const verified = tokens.verify(bearer)
  switch (verified.kind) {
    case 'unknown':
      return problem('token_unknown', challenge(', error="invalid_token"'))
    case 'expired':
      return problem('token_expired', challenge(', error="invalid_token", error_description="expired"'))
    case 'ok':
      return verified.scopes.includes(scope)
        ? null
        : problem('scope_missing', {
            detail: `needs the scope ${scope}`,
            ...challenge(`, error="insufficient_scope", scope="${scope}"`),
          })
  }
}

const challenge = (rest: string) => ({
  headers: { 'www-authenticate': `Bearer realm="goodstanding"${rest}` },
})

// Weak comparison, as RFC 9110 has it for If-None-Match.
const isKnown = (header: string | undefined, etag: string): boolean => {
  if (header === undefined) return false
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '')
  return header.trim() === '*' || header.split(',').some((tag) => opaque(tag) === opaque(etag))
}

const badTenant = () =>
  problem('bad_request', { detail: `tenant: expected 1 to ${TENANT_MAX_CHARS} printable characters` })

const isJson = (header: string | undefined): boolean =>
  header?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'

// undefined is no JSON value, so it fails the schema as a whole.
const jsonOf = async (c: Call): Promise<unknown> => {
  try {
    return JSON.parse(await c.req.text()) as unknown
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

// Paths and expectations only: a value may be anything.
const problemsOf = (error: z.ZodError): string =>
  error.issues
    .slice(0, 5)
    .map(
      ({ path, message, code }) =>
        `${path.join('.') || 'body'}: ${code === 'unrecognized_keys' ? 'has unknown fields' : message}`,
    )
    .join('; ')
