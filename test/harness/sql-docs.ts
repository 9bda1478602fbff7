// Writes the generated part of sql/README.md: every table, view, sequence and function of ours in the sentence that
// the database itself has of it, and the queries for people with the first sentence of each file.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const SQL_README = join(import.meta.dirname, '../../sql/README.md')
export const INSPECT = join(import.meta.dirname, '../../sql/inspect')
const BEGIN =
  '<!-- generated: begin (UPDATE_DOCS=1 npx vitest run --config test/vitest.config.ts test/entitlements/sql-docs.test.ts) -->'
const END = '<!-- generated: end -->'

export type DocumentedObject = {
  kind: 'table' | 'view' | 'function' | 'sequence'
  name: string
  comment: string | null
}
type Query = (text: string) => Promise<DocumentedObject[]>

/** Every object of the schema goodstanding, with its comment. */
export const documentedObjects = (query: Query): Promise<DocumentedObject[]> =>
  query(`
    select
      case class.relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end as kind,
      class.relname::text as name,
      obj_description(class.oid, 'pg_class') as comment
    from pg_class class
    where class.relnamespace = 'goodstanding'::regnamespace
      and class.relkind in ('r', 'p', 'v', 'S')
      and not exists (
        select 1
        from pg_depend owned
        where owned.objid = class.oid
          and owned.classid = 'pg_class'::regclass
          and class.relkind = 'S'
          and owned.deptype in ('a', 'i')
      )
    union all
    select 'function', function.proname || '(' || pg_get_function_identity_arguments(function.oid) || ')',
      obj_description(function.oid, 'pg_proc')
    from pg_proc function
    where function.pronamespace = 'goodstanding'::regnamespace
    order by kind, name
  `)

const HEADINGS = { table: 'Tables', view: 'Views', function: 'Functions', sequence: 'Sequences' } as const

/** The lines between the markers. */
export const renderSqlReadme = async (query: Query): Promise<string> => {
  const objects = await documentedObjects(query)
  const sections = (['table', 'view', 'function', 'sequence'] as const).map((kind) => {
    const rows = objects.filter((each) => each.kind === kind)
    return [
      `### ${HEADINGS[kind]}`,
      '',
      ...rows.map(({ name, comment }) => `* \`${name}\`: ${comment ?? '(no comment)'}`),
      '',
    ].join('\n')
  })
  const queries = inspectFiles().map(
    (file) => `* \`inspect/${file}\`: ${firstSentence(readFileSync(join(INSPECT, file), 'utf8'))}`,
  )
  return [...sections, '### Queries for people', '', ...queries, ''].join('\n')
}

export const inspectFiles = (): string[] =>
  readdirSync(INSPECT)
    .filter((file) => file.endsWith('.sql'))
    .toSorted()

/** The file as it should be. */
export const withGenerated = (readme: string, generated: string): string => {
  const [before, rest] = readme.split(BEGIN)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined) throw new Error(`${SQL_README} lacks its markers`)
  return `${before}${BEGIN}\n\n${generated}\n${END}${after}`
}

// The comment lines in front of the first indented one (how to run it).
const firstSentence = (text: string): string => {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => !/^-- \S/.test(line))
  return lines
    .slice(0, end)
    .map((line) => line.slice(3))
    .join(' ')
}
