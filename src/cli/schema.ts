// `schema apply` and `schema status`: the only commands that change, or only compare, the database's shape.
import type { Config } from '../config.ts'
import { AppError } from '../errors.ts'
import { EXIT } from '../exit.ts'
import { applySchema as apply, schemaStatus as compare, type SchemaStatus } from '../postgres/schema.ts'
import { withDatabaseUrl } from './database-url.ts'
import type { Out } from './program.ts'

/** Applies what is missing. */
export const applySchema = (config: Config, out: Out): Promise<number> =>
  withDatabaseUrl(config, out.problem, async (url) => {
    const applied = await apply(url, out.problem)
    out.result(
      applied.length === 0 ? 'The schema is current; nothing to do.' : `Applied: ${applied.join(', ')}`,
    )
    return EXIT.ok
  })

/** Prints how the database compares with this release; exit code 3 where it differs. */
export const schemaStatus = (config: Config, out: Out): Promise<number> =>
  withDatabaseUrl(config, out.problem, async (url) => {
    const status = await compare(url)
    out.result(describeSchema(status))
    return status.kind === 'current' ? EXIT.ok : EXIT.found_problems
  })

/** One sentence, and what to do. */
export const describeSchema = (status: SchemaStatus): string => {
  switch (status.kind) {
    case 'current':
      return `The schema is current (${status.applied.length} changes, pg-boss ${status.queueVersion}).`
    case 'behind':
      return `The schema is too old (missing: ${status.missing.join(', ')}). Run: npm run schema -- apply`
    case 'ahead':
      return `The schema is newer than this release (unknown: ${status.unknown.join(', ')}). Deploy the newer goodstanding.`
  }
}

/** Refuses a database whose schema is not this release's, and says what to do. */
export const requireSchema = async (url: string): Promise<void> => {
  const status = await compare(url)
  if (status.kind === 'current') return
  throw new AppError(status.kind === 'behind' ? 'schema/behind' : 'schema/ahead', {
    todo: describeSchema(status),
  })
}
