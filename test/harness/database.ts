// A database of one's own for a test file: a clone of the template, dropped at the end.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'

export const TEMPLATE = 'goodstanding_template'

/** The same server, another database. */
export const databaseUrl = (url: string, database: string): string => {
  const at = new URL(url)
  at.pathname = `/${database}`
  return at.toString()
}

/** Runs one statement on its own connection; returns the rows. */
export const adminQuery = async <Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: unknown[] = [],
) => {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}

export type TestDatabase = {
  url: string
  query: <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>
  drop: () => Promise<void>
}

/** Clones the template. Call `drop` when done (or use `testDatabase` inside a test). */
export const createTestDatabase = async (adminUrl: string = inject('adminUrl')): Promise<TestDatabase> => {
  const name = `gs_${randomBytes(6).toString('hex')}`
  await adminQuery(adminUrl, `create database ${name} template ${TEMPLATE}`)
  const url = databaseUrl(adminUrl, name)
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  // Specs terminate backends on purpose.
  pool.on('error', () => {})
  return {
    url,
    query: async (text, values) => (await pool.query(text, values)).rows,
    drop: async () => {
      await pool.end()
      await adminQuery(adminUrl, `drop database if exists ${name} with (force)`)
    },
  }
}

/** A database for one test, dropped when the test ends. */
export const testDatabase = async (): Promise<TestDatabase> => {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  return database
}
