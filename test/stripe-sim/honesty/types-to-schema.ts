// JSON Schemas from the types of the installed stripe package, by the old TypeScript compiler (7 has no such API).
// Closed (no unknown keys), enums strict (the marker of open enums is dropped where literals exist), decimals are text.
// Three manners: `wire` as Stripe answers, `partial` without required keys (previous_attributes), `form` as a client
// writes a request: every leaf is text, lists are hashes with numbers as keys.
import ts from 'typescript5'

export type Schema = Record<string, unknown>
export type Manner = 'wire' | 'partial' | 'form'
export type Definitions = Record<string, Schema>

const DECIMAL = { type: 'string', pattern: String.raw`^-?\d+(\.\d+)?$` }
const ANYTHING: Schema = {}

const createNamer = (checker: ts.TypeChecker) => {
  const names = new Map<ts.Type, string>()
  const taken = new Set<string>()

  // `Subscriptions.Subscription.Items`: the file of the SDK and the path in it; numbered where type arguments differ.
  return (type: ts.Type): string => {
    const known = names.get(type)
    if (known !== undefined) return known
    const symbol = type.aliasSymbol ?? type.symbol
    const file = symbol.declarations?.[0]?.getSourceFile().fileName.split('/').at(-1)?.replace('.d.ts', '')
    const base = `${file}.${checker.getFullyQualifiedName(symbol).replace(/^".*"\./, '')}`
    let name = base
    for (let count = 2; taken.has(name); count += 1) name = `${base}(${count})`
    taken.add(name)
    names.set(type, name)
    return name
  }
}

export const createConverter = (checker: ts.TypeChecker) => {
  const definitions: Definitions = {}
  const nameOf = createNamer(checker)

  const convert = (type: ts.Type, manner: Manner): Schema => {
    if (type.symbol?.name === 'DecimalImpl' || type.aliasSymbol?.name === 'Decimal') return DECIMAL
    if (type.isUnion()) return unionOf(type.types, manner)
    const leaf = leafOf(checker, type, manner)
    if (leaf !== null) return leaf
    if (checker.isArrayType(type))
      return listOf(checker.getTypeArguments(type as ts.TypeReference)[0], manner)
    return objectOf(type, manner)
  }

  const listOf = (element: ts.Type | undefined, manner: Manner): Schema => {
    const items = element === undefined ? ANYTHING : convert(element, manner)
    if (manner !== 'form') return { type: 'array', items }
    return { type: 'object', patternProperties: { [String.raw`^\d+$`]: items }, additionalProperties: false }
  }

  const unionOf = (all: readonly ts.Type[], manner: Manner): Schema => {
    const members = all.filter((each) => !(each.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void)))
    const literal = members.some((each) => each.isStringLiteral())
    const schemas = members
      .filter((each) => !(literal && isOpenMarker(each)))
      .map((each) => convert(each, manner))
    const constants = [...new Set(schemas.filter((each) => 'const' in each).map((each) => each['const']))]
    const others = schemas.filter((each) => !('const' in each))
    const choices = constants.length === 0 ? others : [{ enum: constants }, ...others]
    const [only] = choices
    return choices.length === 1 && only !== undefined ? only : { anyOf: choices }
  }

  const objectOf = (type: ts.Type, manner: Manner): Schema => {
    const index = checker.getIndexInfoOfType(type, ts.IndexKind.String)
    const properties = checker.getPropertiesOfType(type)
    if (index !== undefined && properties.length === 0) {
      const value = convert(index.type, manner)
      // What was not there before is told as null.
      const entry = manner === 'partial' ? { anyOf: [{ type: 'null' }, value] } : value
      return { type: 'object', additionalProperties: entry }
    }
    const name = `${nameOf(type)}${manner === 'wire' ? '' : `?${manner}`}`
    if (definitions[name] === undefined) {
      const schema: Schema = { type: 'object', additionalProperties: false }
      definitions[name] = schema
      Object.assign(schema, membersOf(properties, manner))
    }
    return { $ref: `#/definitions/${encodeURIComponent(name)}` }
  }

  const membersOf = (properties: ts.Symbol[], manner: Manner): Schema => {
    const members: Record<string, Schema> = {}
    const required: string[] = []
    for (const property of properties) {
      const type = checker.getTypeOfSymbol(property)
      if (checker.getNonNullableType(type).getCallSignatures().length > 0 || isAbsent(type)) continue
      members[property.name] = convert(type, manner)
      if (!(property.flags & ts.SymbolFlags.Optional) && manner !== 'partial') required.push(property.name)
    }
    return { properties: members, ...(required.length === 0 ? {} : { required }) }
  }

  return { convert, definitions }
}

const leafOf = (checker: ts.TypeChecker, type: ts.Type, manner: Manner): Schema | null => {
  const form = manner === 'form'
  if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return ANYTHING
  if (type.isStringLiteral() || type.isNumberLiteral())
    return { const: form ? String(type.value) : type.value }
  if (type.flags & ts.TypeFlags.BooleanLiteral) {
    const value = checker.typeToString(type) === 'true'
    return { const: form ? String(value) : value }
  }
  // Stripe's amounts and times are whole, its percentages are not: the types do not tell them apart.
  if (type.flags & ts.TypeFlags.Number) return form ? DECIMAL : { type: 'number' }
  if (type.flags & ts.TypeFlags.String || isOpenMarker(type)) return { type: 'string' }
  if (type.flags & ts.TypeFlags.Boolean) return form ? { enum: ['true', 'false'] } : { type: 'boolean' }
  if (type.flags & ts.TypeFlags.Null) return form ? { const: '' } : { type: 'null' }
  return null
}

// `deleted?: void`: this one has no such key.
const isAbsent = (type: ts.Type): boolean =>
  (type.isUnion() ? type.types : [type]).every(
    (each) => each.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void),
  )

// `OtherString` of the SDK: string & Record<never, never>.
const isOpenMarker = (type: ts.Type): boolean =>
  type.isIntersection() && type.types.some((each) => (each.flags & ts.TypeFlags.String) !== 0)
