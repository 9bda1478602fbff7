// Is what the double says, and what a client asks, what the installed stripe package's types allow? Problems are told as
// `path: what is wrong`; an empty list is a pass.
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { UNDOCUMENTED, type Undocumented } from './allowlist.ts'
import { stripeSchemas, type StripeSchemas } from './generate.ts'
import type { Schema } from './types-to-schema.ts'

type Hash = Record<string, unknown>
export type ParamProblem = { param: string; kind: 'unknown' | 'missing' | 'invalid' }

const SHOWN = 5

/** `allowed`: what may be said past the types. */
export const openHonesty = (schemas: StripeSchemas = stripeSchemas(), allowed = UNDOCUMENTED) => {
  const definitions = withUndocumented(schemas.definitions, allowed)
  const { validator, requestValidator, used } = createValidators(definitions)
  const problems = (schema: Schema, value: unknown): string[] => {
    const validate = validator(schema)
    return validate(value) ? [] : describe(validate.errors ?? [])
  }

  const objectProblems = (value: Hash): string[] => {
    if (value['object'] === 'list' || value['object'] === 'search_result') return listProblems(value)
    if (value['object'] === 'event') return eventProblems(value)
    const name = `${String(value['object'])}${value['deleted'] === true ? '!deleted' : ''}`
    const schema = schemas.objects[name]
    return schema === undefined ? [`object: the SDK knows no "${name}"`] : problems(schema, value)
  }
  const listProblems = (list: Hash): string[] => {
    const frame = Object.keys(list).filter(
      (key) => !['object', 'data', 'has_more', 'url', 'total_count'].includes(key),
    )
    const elements = Array.isArray(list['data']) ? (list['data'] as Hash[]) : null
    if (elements === null || typeof list['has_more'] !== 'boolean' || frame.length > 0) {
      return [`a list of data, has_more and url, not ${Object.keys(list).join(', ')}`]
    }
    return elements.flatMap((each, index) => objectProblems(each).map((text) => `data.${index}.${text}`))
  }
  /** The variant of the event's own type: its object, closed, and what changed as a part of that object. */
  const eventProblems = (event: Hash): string[] => {
    const variant = schemas.events[String(event['type'])]
    if (variant === undefined) return [`type: the SDK knows no event "${String(event['type'])}"`]
    const { previous_attributes: changed, ...data } = event['data'] as Hash
    const found = problems(variant.envelope, { ...event, data })
    if (changed === undefined) return found
    if (variant.previous === null)
      return [...found, `data.previous_attributes: not in ${String(event['type'])}`]
    return [
      ...found,
      ...problems(variant.previous, changed).map((text) => `data.previous_attributes.${text}`),
    ]
  }

  return {
    objectProblems,
    /** Of the parameters of a request, as text; null for a path that the SDK does not have. */
    paramProblems: (method: string, pattern: string, params: Hash): ParamProblem[] | null => {
      const schema = schemas.requests[`${method} ${pattern.replaceAll(/:\w+/g, ':id')}`]
      if (schema === undefined) return null
      const validate = requestValidator(schema)
      return validate(params) ? [] : blamed(validate.errors ?? [])
    },
    /** How many definitions the checks so far have used, with all that they refer to. */
    definitionsUsed: () => reachable(definitions, used()).size,
  }
}

export type Honesty = ReturnType<typeof openHonesty>

let opened: Honesty | null = null

/** One for the whole process. */
export const sharedHonesty = (): Honesty => (opened ??= openHonesty())

const createValidators = (definitions: Record<string, Schema>) => {
  const options = { strict: false, allErrors: true, validateSchema: false }
  const compiled = new Map<string, ValidateFunction>()
  const remember = (ref: string, compile: () => ValidateFunction): ValidateFunction => {
    const known = compiled.get(ref) ?? compile()
    compiled.set(ref, known)
    return known
  }
  // Objects refer to nearly all others: they share one schema, which takes a second to read.
  let shared: Ajv | null = null
  const validator = (schema: Schema): ValidateFunction => {
    shared ??= new Ajv(options).addSchema({ $id: 'stripe', definitions })
    const [ref, ajv] = [String(schema['$ref']), shared]
    return remember(ref, () => ajv.compile({ $ref: `stripe${ref}` }))
  }
  // Requests refer to little: each brings only what it needs.
  const requestValidator = (schema: Schema): ValidateFunction => {
    const ref = String(schema['$ref'])
    const needed = [...reachable(definitions, [ref])].map((name) => [name, definitions[name]] as const)
    return remember(ref, () =>
      new Ajv(options).compile({ $ref: ref, definitions: Object.fromEntries(needed) }),
    )
  }
  return { validator, requestValidator, used: () => [...compiled.keys()] }
}

const withUndocumented = (
  definitions: Record<string, Schema>,
  undocumented: readonly Undocumented[],
): Record<string, Schema> => {
  const result = { ...definitions }
  for (const { definition, field, schema } of undocumented) {
    for (const [name, known] of Object.entries(result)) {
      const bare = name.replace(/\?partial$/, '')
      if (!definition.test(bare) || name.endsWith('?form')) continue
      const allowed = name.endsWith('?partial') ? inPart(schema) : schema
      result[name] = { ...known, properties: { ...(known['properties'] as Hash), [field]: allowed } }
    }
  }
  return result
}

// In previous_attributes an object stands for what of it changed.
const inPart = (schema: Schema): Schema =>
  JSON.parse(JSON.stringify(schema).replaceAll(/("#\/definitions\/[^"]*)"/g, '$1%3Fpartial"')) as Schema

// The deepest complaints say most: those above are "matches none of the choices".
const describe = (errors: ErrorObject[]): string[] => {
  const depth = (error: ErrorObject) => error.instancePath.split('/').length
  const deepest = Math.max(...errors.map(depth))
  const telling = errors.filter(
    (error) =>
      depth(error) === deepest || error.keyword === 'additionalProperties' || error.keyword === 'required',
  )
  const texts = telling.map(({ instancePath, keyword, params, message = '' }) => {
    const where = instancePath.slice(1).replaceAll('/', '.')
    const detail = keyword === 'additionalProperties' ? ` (${String(params['additionalProperty'])})` : ''
    const allowed = keyword === 'enum' ? ` (${String(params['allowedValues'])})` : ''
    return `${where}: ${message}${detail}${allowed}`
  })
  return [...new Set(texts)].slice(0, SHOWN)
}

const blamed = (errors: ErrorObject[]): ParamProblem[] =>
  errors.map(({ instancePath, keyword, params }) => {
    const steps = instancePath.split('/').slice(1)
    if (keyword === 'additionalProperties') steps.push(String(params['additionalProperty']))
    if (keyword === 'required') steps.push(String(params['missingProperty']))
    const [first = '', ...rest] = steps
    const kind =
      keyword === 'additionalProperties' ? 'unknown' : keyword === 'required' ? 'missing' : 'invalid'
    return { param: first + rest.map((step) => `[${step}]`).join(''), kind }
  })

const reachable = (definitions: Record<string, Schema>, refs: string[]): Set<string> => {
  const seen = new Set<string>()
  const queue = refs.map((ref) => decodeURIComponent(ref.replace('#/definitions/', '')))
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (seen.has(name)) continue
    seen.add(name)
    for (const [, ref = ''] of JSON.stringify(definitions[name] ?? {}).matchAll(
      /"\$ref":"#\/definitions\/([^"]*)"/g,
    )) {
      queue.push(decodeURIComponent(ref))
    }
  }
  return seen
}
