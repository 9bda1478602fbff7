// The OpenAPI 3.1 document: made from the same schemas that check requests and from the table of operations, so that it
// cannot say anything else than the routes do.
import { z } from 'zod'
import type { Operation } from '../operate/operation.ts'
import { OPERATIONS } from '../operate/operations.ts'
import { PROBLEMS } from '../problem.ts'
import { SCOPES } from '../tokens.ts'
import { VERSION } from '../version.ts'
import { acting } from './operate.ts'
import { linkBody, oneFeatureBody, reconcileBody, tenantBody } from './schemas.ts'

type Json = Record<string, unknown>

/** The whole document. */
export const openApiDocument = (): Json => ({
  openapi: '3.1.1',
  info: {
    title: 'goodstanding',
    version: VERSION,
    description: 'What may this tenant use now?',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  security: [{ bearer: [] }],
  paths: { ...hostPaths(), ...operatePaths() },
  components: {
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', description: `Scopes: ${SCOPES.join(', ')}.` },
    },
    schemas: { Problem: problemSchema() },
    responses: {
      Problem: {
        description: 'Refused; `code` says why.',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  },
})

const hostPaths = (): Json => ({
  '/v1/tenants/{tenant}/entitlements': {
    get: {
      ...about('readEntitlements', 'read', 'What a tenant may use now. Answers 304 to a known ETag.'),
      parameters: [inPath('tenant')],
      responses: {
        200: json('As it is at this moment.', tenantBody),
        304: { description: 'As before.' },
        ...refused,
      },
    },
  },
  '/v1/tenants/{tenant}/entitlements/{feature}': {
    get: {
      ...about('readFeature', 'read', 'May a tenant use one feature now?'),
      parameters: [inPath('tenant'), inPath('feature')],
      responses: {
        200: json('`allowed` says it.', oneFeatureBody),
        304: { description: 'As before.' },
        ...refused,
      },
    },
  },
  '/v1/tenants/{tenant}/customer': {
    put: {
      ...about(
        'linkCustomer',
        'operate',
        'Says which Stripe customer a tenant is. The same again changes nothing.',
      ),
      parameters: [inPath('tenant')],
      requestBody: body(linkBody),
      responses: { 200: { description: 'Linked.' }, ...refused },
    },
  },
  '/v1/reconcile': {
    post: {
      ...about(
        'reconcile',
        'operate',
        'Has a customer read now and waits for it: for the return from Checkout.',
      ),
      requestBody: body(reconcileBody),
      responses: {
        200: { description: 'Read since the request.' },
        202: { description: 'Still under way; what is known now.' },
        ...refused,
      },
    },
  },
})

const operatePaths = (): Json =>
  Object.fromEntries(
    Object.entries(OPERATIONS).map(([name, operation]) => [
      `/v1/operate/${name}`,
      operatePath(name, operation as never),
    ]),
  )

const operatePath = (
  name: string,
  { scope, writes, about: text, input }: Operation<unknown, unknown>,
): Json => {
  const shared = { ...about(name, scope, text), tags: ['operate'], responses: { 200: answered, ...refused } }
  const schema = schemaOf(input)
  if (!writes) return { get: { ...shared, parameters: inQuery(schema) } }
  const signed = schemaOf(acting)
  const both = {
    ...schema,
    properties: { ...(schema['properties'] as Json), ...(signed['properties'] as Json) },
    required: [...((schema['required'] as string[] | undefined) ?? []), 'reason'],
  }
  return {
    post: { ...shared, requestBody: { required: true, content: { 'application/json': { schema: both } } } },
  }
}

const about = (operationId: string, scope: string, summary: string) => ({
  operationId,
  summary,
  description: `Needs the scope \`${scope}\`.`,
})

const answered = {
  description: '`data` is the answer; `found`: what it found needs a person.',
  content: {
    'application/json': {
      schema: {
        type: 'object',
        properties: { data: {}, found: { type: 'boolean' } },
        required: ['data', 'found'],
      },
    },
  },
}

const refused = { default: { $ref: '#/components/responses/Problem' } }

const inPath = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } })

const inQuery = (schema: Json) =>
  Object.entries((schema['properties'] ?? {}) as Json).map(([name, property]) => ({
    name,
    in: 'query',
    required: ((schema['required'] as string[] | undefined) ?? []).includes(name),
    schema: property,
  }))

const schemaOf = (schema: z.ZodType): Json => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Json
  return rest
}

const body = (schema: z.ZodType) => ({
  required: true,
  content: { 'application/json': { schema: schemaOf(schema) } },
})

const json = (description: string, schema: z.ZodType) => ({
  description,
  content: { 'application/json': { schema: schemaOf(schema) } },
})

const problemSchema = () => ({
  type: 'object',
  required: ['type', 'title', 'status', 'code'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', enum: Object.keys(PROBLEMS) },
    detail: { type: 'string' },
  },
})
