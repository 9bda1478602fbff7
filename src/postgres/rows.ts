// What happens to statements and rows on their way: instants and numbers as we use them, rows checked against their
// schema, statements named so that the server keeps their plans.
import { SchemaValidationError, type Interceptor } from 'slonik'

/** Of PostgreSQL's types whose text slonik would read otherwise. */
export const typeParsers = [
  // Milliseconds since the epoch (time.ts).
  {
    name: 'timestamptz',
    parse: (text: string) => Date.parse(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')),
  },
  { name: 'int8', parse: Number },
  { name: 'numeric', parse: Number },
]

// sql.type(schema) by itself validates nothing.
export const validateRows: Interceptor = {
  name: 'validate-rows',
  transformRow: (context, query, row) => {
    const parsed = context.resultParser?.['~standard'].validate(row)
    if (parsed === undefined) return row
    if (parsed instanceof Promise) throw new TypeError('row schemas must be synchronous')
    if (parsed.issues) throw new SchemaValidationError(query, row, parsed.issues)
    return parsed.value as typeof row
  },
}

// Planning the wide statements is half of the server's work; a name lets it keep the plan. Texts are few and fixed;
// beyond the bound (a text built at run time) statements stay unnamed.
const MAX_NAMES = 500
export const nameStatements = (): Interceptor => {
  const names = new Map<string, string>()
  return {
    name: 'name-statements',
    transformQuery: (_context, query) => {
      const known = names.get(query.sql)
      if (known !== undefined) return { ...query, name: known }
      if (names.size >= MAX_NAMES) return query
      const name = `gs${names.size}`
      names.set(query.sql, name)
      return { ...query, name }
    },
  }
}
