// What the server says of itself, and whether goodstanding.clock() is shifted.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Queries } from './pool.ts'

const factsRow = z.strictObject({
  version: z.string(),
  major: z.number(),
  now: z.number(),
  synchronous_commit: z.string(),
})
export type ServerFacts = z.infer<typeof factsRow>

/** Version, clock (milliseconds) and durability of the server. */
export const readServerFacts = (db: Queries): Promise<ServerFacts> =>
  db.one(sql.type(factsRow)`
    select current_setting('server_version') as version,
      current_setting('server_version_num')::int / 10000 as major,
      clock_timestamp() as now,
      current_setting('synchronous_commit') as synchronous_commit
  `)

/** Is goodstanding.clock() another time than the server's? */
export const hasClockOffset = (db: Queries): Promise<boolean> =>
  db.oneFirst(sql.type(z.strictObject({ shifted: z.boolean() }))`
    select exists (select 1 from goodstanding.clock_offset where seconds <> 0) as shifted
  `)
