// What a route is, what it gets, and Stripe's list convention: newest first, cursor pages of 1 to 100.

import { invalid, missing } from '../errors.ts'
import type { EndpointState } from '../records-platform.ts'
import { hash, int, str } from './form.ts'
import type { Params } from './form.ts'
import type { Shop } from '../shop.ts'
import type { StripeEvent, World } from '../world.ts'
import { findWire } from './lookup.ts'

/** What reaches past one account: deliveries and those who listen. */
export type Platform = {
  resend(event: StripeEvent, endpoint: EndpointState): void
  tellListeners(world: World, event: StripeEvent): void
  openListener(world: World): object
}
export type RouteContext = {
  world: World
  shop: Shop
  platform: Platform
  path: string
  ids: string[]
  query: Params
  body: Params
}
export type Route = [method: string, path: string, handle: (context: RouteContext) => object]

/** One object by the id in the path; `word` is what Stripe calls it in the error. */
export const retrieve = (path: string, word: string): Route => [
  'GET',
  path,
  ({ world, ids: [id = ''] }) => {
    const wire = findWire(world, id)
    if (wire === null || !('object' in wire) || wire.object !== word) throw missing(word, id)
    return wire
  },
]

const DEFAULT_PAGE = 10
const LARGEST_PAGE = 100

/** `records` in order of creation; only one page is made into wire objects. */
export const page = <T extends { id: string; created: number }>(
  context: RouteContext,
  records: Iterable<T>,
  wire: (record: T) => object,
): object => {
  const { query } = context
  const limit = int(query, 'limit') ?? DEFAULT_PAGE
  if (limit < 1 || limit > LARGEST_PAGE) throw invalid('Invalid limit: must be between 1 and 100', 'limit')
  const matching = [...records].filter((record) => createdWithin(record.created, query)).toReversed()
  const after = str(query, 'starting_after')
  const before = str(query, 'ending_before')
  const from = after === undefined ? 0 : cursor(matching, after, 'starting_after') + 1
  const until = before === undefined ? matching.length : cursor(matching, before, 'ending_before')
  const rest = matching.slice(from, until)
  // `ending_before` alone walks backwards: the page is the one just above the cursor.
  const chosen = before !== undefined && after === undefined ? rest.slice(-limit) : rest.slice(0, limit)
  return { object: 'list', data: chosen.map(wire), has_more: rest.length > chosen.length, url: context.path }
}

const cursor = (records: { id: string }[], id: string, param: string): number => {
  const index = records.findIndex((record) => record.id === id)
  if (index < 0) throw invalid(`No such object: '${id}'`, param, 'resource_missing')
  return index
}

const createdWithin = (created: number, query: Params): boolean => {
  const exact = int(query, 'created')
  const range = hash(query, 'created')
  if (exact !== undefined && created !== exact) return false
  if (range === undefined) return true
  const gte = int(range, 'gte') ?? -Infinity
  const gt = int(range, 'gt') ?? -Infinity
  const lte = int(range, 'lte') ?? Infinity
  const lt = int(range, 'lt') ?? Infinity
  return created >= gte && created > gt && created <= lte && created < lt
}
