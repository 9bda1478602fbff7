// Stripe's form encoding, `items[0][price]=x&expand[]=y`, as nested data, and typed getters for what routes
// read.

import { invalid } from '../errors.ts'

export type Param = string | Params | Param[]
export type Params = { [key: string]: Param }

export const parseForm = (text: string): Params => {
  const root: Params = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const head = name.indexOf('[')
    const path = head < 0 ? [name] : [name.slice(0, head), ...bracketed(name.slice(head))]
    assign(root, path, value)
  }
  return root
}

export const str = (params: Params, key: string): string | undefined => {
  const value = params[key]
  return typeof value === 'string' ? value : undefined
}

export const int = (params: Params, key: string): number | undefined => {
  const value = str(params, key)
  if (value === undefined || value === '') return undefined
  if (!/^-?\d+$/.test(value)) throw invalid(`Invalid integer: ${value}`, key, 'parameter_invalid_integer')
  return Number(value)
}

export const bool = (params: Params, key: string): boolean | undefined => {
  const value = str(params, key)
  return value === undefined ? undefined : value === 'true'
}

export const hash = (params: Params, key: string): Params | undefined => {
  const value = params[key]
  return typeof value === 'object' && !Array.isArray(value) ? value : undefined
}

/** A list, whether written `a[]=`, `a[0]=` or `a[0][b]=`. */
const list = (params: Params, key: string): Param[] => {
  const value = params[key]
  if (value === undefined || typeof value === 'string') return []
  return Array.isArray(value) ? value : Object.values(value)
}

export const strings = (params: Params, key: string): string[] =>
  list(params, key).filter((entry) => typeof entry === 'string')

export const hashes = (params: Params, key: string): Params[] =>
  list(params, key).filter((entry): entry is Params => typeof entry === 'object' && !Array.isArray(entry))

/** Without the keys that were not given. */
export const given = <T extends Record<string, unknown>>(
  all: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as never

/** One of some words; others are refused as Stripe does. */
export const word = <T extends string>(params: Params, key: string, words: readonly T[]): T | undefined => {
  const value = str(params, key)
  if (value === undefined) return undefined
  const known = words.find((each) => each === value)
  if (known === undefined) throw invalid(`Invalid ${key}: must be one of ${words.join(', ')}`, key)
  return known
}

export const metadataOf = (params: Params): Record<string, string> | undefined => {
  const metadata = hash(params, 'metadata')
  return metadata === undefined ? undefined : stringMap(metadata)
}

export const stringMap = (params: Params | undefined): Record<string, string> => {
  const entries = Object.entries(params ?? {})
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

const bracketed = (text: string): string[] =>
  [...text.matchAll(/\[([^\]]*)\]/g)].map((match) => match[1] ?? '')

// `a[][b]=1&a[][c]=2&a[][b]=3` is two hashes: a new one begins where the key is taken. (As Stripe and its CLI mean it.)
const assign = (root: Params, path: string[], value: string): void => {
  let node = root
  for (const [index, key] of path.entries()) {
    const name = key === '' ? nextIndex(node, path[index + 1]) : key
    if (index === path.length - 1) node[name] = value
    else {
      const next = node[name]
      node = typeof next === 'object' && !Array.isArray(next) ? next : (node[name] = {} as Params)
    }
  }
}

const nextIndex = (list: Params, following: string | undefined): string => {
  const length = Object.keys(list).length
  const last = list[String(length - 1)]
  const open = following !== undefined && typeof last === 'object' && !(following in last)
  return String(open ? length - 1 : length)
}
