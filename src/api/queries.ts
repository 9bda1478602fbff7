// SQL of the API's own trail: calls that were refused.
import { sql } from 'slonik'
import type { Queries } from '../postgres/pool.ts'

/** Adds to the counts of this minute. */
export const countDenials = (
  db: Queries,
  rows: readonly { token: string | null; scope: string; why: string; count: number }[],
) =>
  db.query(sql.unsafe`
    insert into goodstanding.api_denials as mine (minute, token, scope, why, count)
    select date_trunc('minute', clock_timestamp()), coalesce(token, ''), scope, why, count
    from ${sql.unnest(
      rows.map(({ token, scope, why, count }) => [token, scope, why, count]),
      ['text', 'text', 'text', 'int4'],
    )} as denied (token, scope, why, count)
    on conflict (minute, token, scope, why) do update
      set count = mine.count + excluded.count
  `)
