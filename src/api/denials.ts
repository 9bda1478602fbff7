// Refused calls of the API, as rows: who (by the token's name, where it is known), what it lacked, how often a minute.
// The first of a kind is written at once, the rest together after a second, so that guessing costs the database little.
import type { Log } from '../log.ts'
import type { Database } from '../postgres/pool.ts'
import { SECOND_MS } from '../time.ts'
import { countDenials } from './queries.ts'

export type Denial = { token: string | null; scope: string; why: string }
export type Denials = { note: (denial: Denial) => void; counted: () => Promise<void> }

export const openDenials = (database: Database, log: Log): Denials => {
  let waiting = new Map<string, Denial & { count: number }>()
  let timer: NodeJS.Timeout | null = null
  let writing: Promise<void> = Promise.resolve()
  const flush = () => {
    const rows = [...waiting.values()]
    waiting = new Map()
    if (rows.length === 0) {
      timer = null
      return
    }
    timer = setTimeout(flush, SECOND_MS).unref()
    log.warn({ denied: rows.reduce((sum, { count }) => sum + count, 0), why: rows[0]?.why }, 'api.denied')
    writing = writing
      .then(() => database.run((db) => countDenials(db, rows)))
      .then(
        () => {},
        (error: unknown) =>
          log.error({ err: error, alert: 'denial_not_recorded' }, 'api.denial_not_recorded'),
      )
  }
  return {
    note: (denial) => {
      const key = JSON.stringify(denial)
      waiting.set(key, { ...denial, count: (waiting.get(key)?.count ?? 0) + 1 })
      if (timer === null) flush()
    },
    counted: () => writing,
  }
}
