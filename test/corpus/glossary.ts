// Which id of the double stands for which recorded id. It learns from two answers to the same question, by place; ids
// that it has not heard of are named, never guessed.
import type { Exchange } from './exchanges.ts'
import { isFields, textIn } from './read.ts'

export type Glossary = {
  /** The recorded request in the double's ids. */
  translate: (exchange: Exchange) => Exchange
  learn: (pair: { recorded: unknown; double: unknown }) => void
  /** Why the request cannot be put to the double; null if every id in it is known. */
  unknownIn: (exchange: Exchange) => string | null
  knows: (id: string) => boolean
  /** Has a recorded answer brought it already? Then the double should have made it. */
  wasAnswered: (id: string) => boolean
  /** The double's object that stands for a recorded id; nothing is learned from a refusal. */
  call: (id: string, body: unknown) => void
  /** The double's id of a recorded one, else the recorded one itself. */
  idOf: (id: string) => string
  /** Objects of this kind and id in the recorded answers of the conversation, the first of them. */
  recorded: (kinds: string[], id: string) => Record<string, unknown> | null
}

/** `cus_TL2wOKapdYV2oF`: a prefix, then many letters and digits; test tokens such as `pm_card_visa` have no digit. */
const ID = /^(?<prefix>(?:[a-z]+_)+)(?=\w*\d)[A-Za-z0-9]{14,}$/

/** `bodies`: all recorded answers of the conversation. */
export const createGlossary = (bodies: unknown[]): Glossary => {
  const known = new Map<string, string>()
  const heard = new Set<string>()
  const idOf = (id: string): string => known.get(id) ?? id
  const learn = (pair: { recorded: unknown; double: unknown }): void => {
    for (const text of textsIn(pair.recorded)) heard.add(text)
    for (const [recorded, double] of alike(pair)) if (!known.has(recorded)) known.set(recorded, double)
  }
  return {
    learn,
    idOf,
    knows: (id) => known.has(id),
    wasAnswered: (id) => heard.has(id),
    call: (id, body) => {
      const own = isFields(body) ? textIn(body['id']) : null
      if (own !== null) known.set(id, own)
    },
    translate: (exchange) => ({
      ...exchange,
      path: exchange.path.split('/').map(idOf).join('/'),
      query: translated(exchange.query, idOf),
      form: translated(exchange.form, idOf),
    }),
    unknownIn: (exchange) => {
      const id = idsIn(exchange).find((each) => !known.has(each))
      if (id === undefined) return null
      const prefix = prefixOf(id)
      return heard.has(id)
        ? `names a ${prefix} that the double did not make`
        : `names a ${prefix} from before the recording`
    },
    recorded: (kinds, id) => objectsIn(bodies).find((each) => isOneOf(each, kinds, id)) ?? null,
  }
}

/** Ids of objects in a request. Accounts have their recorded ids in the double, too. */
export const idsIn = ({ path, query, form }: Exchange): string[] =>
  [...path.split('/'), ...valuesIn(query), ...valuesIn(form)].filter(
    (text) => ID.test(text) && !text.startsWith('acct_'),
  )

export const prefixOf = (id: string): string => ID.exec(id)?.groups?.['prefix'] ?? ''

const valuesIn = (query: string): string[] => [...new URLSearchParams(query).values()]

const translated = (query: string, idOf: (id: string) => string): string =>
  new URLSearchParams(
    [...new URLSearchParams(query)].map(([key, value]): [string, string] => [key, idOf(value)]),
  ).toString()

/** Pairs of ids at the same place: `id` of two objects of one kind, and texts that are ids with one prefix. */
const alike = ({ recorded, double }: { recorded: unknown; double: unknown }): [string, string][] => {
  if (Array.isArray(recorded) && Array.isArray(double))
    return recorded.flatMap((each, index) => alike({ recorded: each, double: double[index] }))
  if (isFields(recorded) && isFields(double)) {
    const [a, b] = [textIn(recorded['id']), textIn(double['id'])]
    const same = a !== null && b !== null && recorded['object'] === double['object']
    const nested = Object.keys(recorded).flatMap((key) =>
      alike({ recorded: recorded[key], double: double[key] }),
    )
    return same ? [[a, b], ...nested] : nested
  }
  // One of the two may be expanded.
  const [a, b] = [nameIn(recorded), nameIn(double)]
  return a !== null && b !== null && ID.test(a) && b.startsWith(prefixOf(a)) ? [[a, b]] : []
}

const nameIn = (value: unknown): string | null => textIn(isFields(value) ? value['id'] : value)

const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

const objectsIn = (value: unknown): Record<string, unknown>[] => {
  if (Array.isArray(value)) return value.flatMap(objectsIn)
  return isFields(value) ? [value, ...Object.values(value).flatMap(objectsIn)] : []
}

const isOneOf = (fields: Record<string, unknown>, kinds: string[], id: string): boolean =>
  fields['id'] === id && kinds.includes(textIn(fields['object']) ?? '')
