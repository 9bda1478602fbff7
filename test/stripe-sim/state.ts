// The store of one simulated Stripe account, and snapshots of one customer's records, for stale reads.

import type { Kind, Kinds } from './records.ts'

export type Store = { [K in Kind]: Map<string, Kinds[K]> } & { owned: Map<string, Map<string, Kind>> }
export type CustomerSnapshot = { customer: string; records: Map<string, Kinds[Kind]> }

const KINDS = [
  'customer',
  'product',
  'price',
  'coupon',
  'subscription',
  'schedule',
  'invoiceItem',
  'invoice',
  'method',
  'intent',
  'setupIntent',
  'charge',
  'refund',
  'dispute',
  'session',
  'clock',
  'endpoint',
] as const satisfies readonly Kind[]

export const emptyStore = (): Store =>
  ({ ...Object.fromEntries(KINDS.map((kind) => [kind, new Map()])), owned: new Map() }) as Store

export const put = <K extends Kind>(store: Store, kind: K, record: Kinds[K]): Kinds[K] => {
  const map = store[kind] as Map<string, Kinds[K]>
  map.set(record.id, record)
  const owner = ownerOf(record, kind)
  if (owner !== null) {
    const mine = store.owned.get(owner) ?? new Map<string, Kind>()
    store.owned.set(owner, mine.set(record.id, kind))
  }
  return record
}

// Oldest first: Map keeps the order of insertion, which is the order of creation.
export const ownedBy = <K extends Kind>(store: Store, customer: string, kind: K): Kinds[K][] => {
  const found: Kinds[K][] = []
  for (const [id, ownedKind] of store.owned.get(customer) ?? []) {
    const record = ownedKind === kind ? store[kind].get(id) : undefined
    if (record !== undefined) found.push(record as Kinds[K])
  }
  return found
}

export const snapshotOf = (store: Store, customer: string): CustomerSnapshot => {
  const records = new Map<string, Kinds[Kind]>()
  for (const [id, kind] of store.owned.get(customer) ?? []) {
    const record = store[kind].get(id)
    if (record !== undefined) records.set(id, structuredClone(record))
  }
  return { customer, records }
}

// The store as it was for this customer at the snapshot; records made since are absent.
export const storeAsOf = (store: Store, snapshot: CustomerSnapshot): Store => {
  const past = emptyStore()
  for (const kind of KINDS) {
    for (const record of store[kind].values()) {
      const owner = ownerOf(record, kind)
      const old = owner === snapshot.customer ? snapshot.records.get(record.id) : record
      if (old !== undefined) put(past, kind, old as never)
    }
  }
  return past
}

const ownerOf = (record: Kinds[Kind], kind: Kind): string | null =>
  kind === 'customer' ? record.id : 'customer' in record ? record.customer : null
