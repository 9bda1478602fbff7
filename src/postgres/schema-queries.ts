// SQL of the readiness check: which schema the database has.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Queries } from './pool.ts'

const shape = sql.type(z.strictObject({ changes: z.array(z.string()), queue_version: z.number().nullable() }))

/** The schema changes that were applied, and the version of pg-boss's schema. Fails where there is no schema. */
export const findShape = (db: Queries) =>
  db.one(shape`
    select
      coalesce((select json_agg(name order by name) from goodstanding.schema_changes), '[]') as changes,
      (select max(version) from pgboss.version) as queue_version
  `)
