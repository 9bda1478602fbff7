// What the installed stripe package says of Stripe: schemas of every object, event and request, with the path of each
// request from its resource classes. Takes some seconds; kept beside the packages until one of them changes.
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript5'
import { createConverter, type Definitions, type Schema } from './types-to-schema.ts'

/** The roots, by what the wire says: `object` (deleted ones: `object!deleted`), event type, `METHOD /v1/path/:id`. */
export type StripeSchemas = {
  stripeVersion: string
  definitions: Definitions
  objects: Record<string, Schema>
  /** `object` of data.object is validated by its own name; here the rest of the envelope and previous_attributes. */
  events: Record<string, { envelope: Schema; previous: Schema | null }>
  requests: Record<string, Schema>
}

const PACKAGES = fileURLToPath(new URL('../../../node_modules/', import.meta.url))
const SDK = join(PACKAGES, 'stripe/esm')
const CACHE = join(PACKAGES, '.cache/goodstanding')

export const stripeSchemas = (): StripeSchemas => {
  const stripeVersion = (
    JSON.parse(readFileSync(join(PACKAGES, 'stripe/package.json'), 'utf8')) as { version: string }
  ).version
  const own = ['generate.ts', 'types-to-schema.ts'].map((file) =>
    readFileSync(new URL(file, import.meta.url)),
  )
  const print = createHash('sha256')
    .update(stripeVersion)
    .update(Buffer.concat(own))
    .digest('hex')
    .slice(0, 16)
  const file = join(CACHE, `stripe-schemas-${print}.json`)
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as StripeSchemas
  const schemas = generate(stripeVersion)
  mkdirSync(dirname(file), { recursive: true })
  // Two runs at once write the same.
  const unfinished = `${file}.${process.pid}`
  writeFileSync(unfinished, JSON.stringify(schemas))
  renameSync(unfinished, file)
  return schemas
}

const generate = (stripeVersion: string): StripeSchemas => {
  // V2 has no snapshot events and nothing that is simulated here.
  const files = globSync('resources/**/*.d.ts', { cwd: SDK, exclude: ['resources/V2/**'] }).map((file) =>
    join(SDK, file),
  )
  const program = ts.createProgram(files, {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    skipLibCheck: true,
    types: [],
  })
  const checker = program.getTypeChecker()
  const { convert, definitions } = createConverter(checker)
  const result: StripeSchemas = { stripeVersion, definitions, objects: {}, events: {}, requests: {} }
  const exported = files.flatMap((file) => {
    const source = program.getSourceFile(file)
    const symbol = source === undefined ? undefined : checker.getSymbolAtLocation(source)
    return symbol === undefined
      ? []
      : checker.getExportsOfModule(symbol).map((each) => ({ file, symbol: each }))
  })
  for (const { file, symbol } of exported) {
    if (symbol.flags & ts.SymbolFlags.Interface) {
      const type = checker.getDeclaredTypeOfSymbol(symbol)
      const object = literalOf(checker, type, 'object')
      if (object === 'event') addEvent(checker, type, convert, result)
      else if (object !== null) {
        const deleted = type.getProperty('deleted') !== undefined && symbol.name.startsWith('Deleted')
        result.objects[deleted ? `${object}!deleted` : object] ??= convert(type, 'wire')
      }
    } else if (symbol.flags & ts.SymbolFlags.Class) addRequests(checker, symbol, file, convert, result)
  }
  return result
}

type Convert = ReturnType<typeof createConverter>['convert']

const literalOf = (checker: ts.TypeChecker, type: ts.Type, key: string): string | null => {
  const property = type.getProperty(key)
  const value = property === undefined ? undefined : checker.getTypeOfSymbol(property)
  return value?.isStringLiteral() === true ? value.value : null
}

const addEvent = (checker: ts.TypeChecker, type: ts.Type, convert: Convert, result: StripeSchemas): void => {
  const name = literalOf(checker, type, 'type')
  const data = type.getProperty('data')
  if (name === null || data === undefined) return
  const dataType = checker.getTypeOfSymbol(data)
  const previous = dataType.getProperty('previous_attributes')
  const partial =
    previous === undefined ? undefined : checker.getNonNullableType(checker.getTypeOfSymbol(previous))
  result.events[name] = {
    envelope: convert(type, 'wire'),
    // Partial<T>, with T's own name.
    previous: partial === undefined ? null : convert(partial.aliasTypeArguments?.[0] ?? partial, 'partial'),
  }
}

// `create(params, options) { return this._makeRequest('POST', `/v1/things/${encodeURIComponent(id)}/x`, params`
const REQUEST = /^ {4}(\w+)\(([^)]*)\) \{\s*return this\._makeRequest\('(\w+)', [`'](\/v1[^`']*)[`']/gm

const addRequests = (
  checker: ts.TypeChecker,
  symbol: ts.Symbol,
  file: string,
  convert: Convert,
  result: StripeSchemas,
): void => {
  const source = readFileSync(file.replace('.d.ts', '.js'), 'utf8')
  const type = checker.getDeclaredTypeOfSymbol(symbol)
  for (const [, method = '', , verb = '', path = ''] of source.matchAll(REQUEST)) {
    const signature = type.getProperty(method)
    const call =
      signature === undefined ? undefined : checker.getTypeOfSymbol(signature).getCallSignatures()[0]
    const params = call?.getParameters().find((each) => each.name === 'params')
    if (params === undefined) continue
    const declared = checker.getNonNullableType(checker.getTypeOfSymbol(params))
    result.requests[`${verb} ${path.replaceAll(/\$\{[^}]*\}/g, ':id')}`] = convert(declared, 'form')
  }
}
