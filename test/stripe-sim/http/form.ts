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

export const stringMap = (params: Params | undefined): Record<string, string> => {
  const entries = Object.entries(params ?? {})
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

const bracketed = (text: string): string[] =>
  [...text.matchAll(/\[([^\]]*)\]/g)].map((match) => match[1] ?? '')

const assign = (root: Params, path: string[], value: string): void => {
  let node = root
  for (const [index, key] of path.entries()) {
    const name = key === '' ? String(Object.keys(node).length) : key
    if (index === path.length - 1) node[name] = value
    else {
      const next = node[name]
      node = typeof next === 'object' && !Array.isArray(next) ? next : (node[name] = {} as Params)
    }
  }
}
