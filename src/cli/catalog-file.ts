// The catalog file in force: read at start (no catalog, no service), and again when it changes. One that becomes
// unreadable leaves the last good one in use, with an alert.
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import type { CatalogInForce } from '../context.ts'
import { parseCatalog } from '../entitlements/catalog.ts'
import { AppError } from '../errors.ts'
import type { Log } from '../log.ts'

export type CatalogFile = {
  current: () => CatalogInForce
  /** Reads the file again where it changed. True where another catalog is in force now. */
  refresh: () => boolean
}

/** Loads the file. Throws AppError `catalog/unreadable` or `catalog/invalid` with every problem. */
export const loadCatalog = (file: string, log: Log): CatalogFile => {
  let changedAt = modifiedAt(file)
  let current = readCatalog(file)
  return {
    current: () => current,
    refresh: () => {
      try {
        const at = modifiedAt(file)
        if (at === changedAt) return false
        changedAt = at
        const next = readCatalog(file)
        if (next.hash === current.hash) return false
        current = next
        log.info({ catalog_hash: next.hash.slice(0, 12) }, 'catalog.changed')
        return true
      } catch (error) {
        log.error({ err: error, alert: 'catalog_unreadable' }, 'catalog.kept')
        return false
      }
    },
  }
}

const modifiedAt = (file: string): number => {
  try {
    return statSync(file).mtimeMs
  } catch (cause) {
    throw new AppError('catalog/unreadable', { file }, { cause })
  }
}

/** Reads and checks a catalog file once. */
export const readCatalog = (file: string): CatalogInForce => {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new AppError('catalog/unreadable', { file }, { cause })
  }
  const parsed = parseCatalog(text)
  if (parsed.kind === 'invalid')
    throw new AppError('catalog/invalid', { file, problems: parsed.problems.join('; ') })
  // Of what it says, not of how it is laid out: a reformatted file must not re-read every customer.
  return {
    catalog: parsed.catalog,
    hash: createHash('sha256').update(JSON.stringify(parsed.catalog)).digest('hex'),
  }
}
