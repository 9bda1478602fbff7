// The shape of JSON: which fields there are and of which type, whatever their values but for the few words that say
// what an object is and how it stands. Where two shapes differ is said
// by the field's place in the Stripe object that holds it (`price:recurring.interval`), so that the same difference
// has one name wherever the object is embedded.
import { isFields, textIn, type Fields } from './read.ts'

/**
 * `missing`: recorded, not in the double. `extra`: the reverse. `type`: two types, e.g. an id instead of the expanded
 * object. `null`: null on one side only. `state`: another word. `status`: another HTTP status.
 */
export type Difference = {
  kind: 'missing' | 'extra' | 'type' | 'null' | 'state' | 'status'
  at: string
  detail: string
}

/** Their keys are the host's, not Stripe's. */
const FREE = new Set(['metadata'])

/** Words that are compared as they are. */
const WORDS = new Set(['object', 'status'])

type Place = { owner: string; path: string }
type Pair = { recorded: unknown; double: unknown }

/** Each difference once, however often it occurs in the two answers. */
export const compareShapes = (pair: Pair): Difference[] => {
  const seen = new Map<string, Difference>()
  for (const each of compare(pair, { owner: 'answer', path: '' }))
    seen.set(`${each.kind} ${each.at} ${each.detail}`, each)
  return [...seen.values()]
}

const compare = ({ recorded, double }: Pair, place: Place): Difference[] => {
  const [a, b] = [typeOf(recorded), typeOf(double)]
  if (a !== b) {
    const kind = a === 'null' || b === 'null' ? 'null' : 'type'
    return [{ kind, at: nameOf(place), detail: `recorded ${a}, double ${b}` }]
  }
  if (Array.isArray(recorded) && Array.isArray(double)) {
    // An empty list tells nothing about what would be in it.
    if (recorded.length === 0 || double.length === 0) return []
    const inside = { ...place, path: `${place.path}[]` }
    return compare({ recorded: merged(recorded), double: merged(double) }, inside)
  }
  return isFields(recorded) && isFields(double) ? compareFields(recorded, double, place) : []
}

const compareFields = (recorded: Fields, double: Fields, outer: Place): Difference[] => {
  const place = ownPlace(recorded, outer)
  return [...new Set([...Object.keys(recorded), ...Object.keys(double)])].flatMap((key): Difference[] => {
    const inner = { ...place, path: place.path === '' ? key : `${place.path}.${key}` }
    if (!(key in double))
      return [{ kind: 'missing', at: nameOf(inner), detail: `recorded ${typeOf(recorded[key])}` }]
    if (!(key in recorded))
      return [{ kind: 'extra', at: nameOf(inner), detail: `double ${typeOf(double[key])}` }]
    const pair = { recorded: recorded[key], double: double[key] }
    if (FREE.has(key)) return []
    return WORDS.has(key) && typeof pair.recorded === 'string' && typeof pair.double === 'string'
      ? compareWords(pair.recorded, pair.double, inner)
      : compare(pair, inner)
  })
}

const compareWords = (recorded: string, double: string, place: Place): Difference[] =>
  recorded === double
    ? []
    : [{ kind: 'state', at: `${nameOf(place)} ${recorded} as ${double}`, detail: 'another word' }]

/** A list is no owner: its elements are. */
const ownPlace = (fields: Fields, outer: Place): Place => {
  const object = textIn(fields['object'])
  return object === null || object === 'list' ? outer : { owner: object, path: '' }
}

const nameOf = ({ owner, path }: Place): string => (path === '' ? owner : `${owner}:${path}`)

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value

/** One element with the fields of all; where several have a field, one that is not null speaks for it. */
const merged = (elements: unknown[]): unknown =>
  elements.every(isFields)
    ? elements.reduce<Fields>((all, each) => {
        for (const [key, value] of Object.entries(each)) all[key] = all[key] ?? value
        return all
      }, {})
    : elements[0]
