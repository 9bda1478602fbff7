// The database's shape: sql/changes by node-pg-migrate under a polled lock, then pg-boss's own schema. The services
// never apply changes themselves (the embedded database excepted); they refuse a schema that they do not know.
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'
import pg from 'pg'
import { AppError } from '../errors.ts'
import { startQueue } from './queue.ts'

const CHANGES = fileURLToPath(new URL('../../sql/changes', import.meta.url))
// Any fixed number; a lock of the session, taken by polling: a waiting lock call deadlocks with CREATE INDEX CONCURRENTLY.
const LOCK_KEY = 7_031_965
const LOCK_POLL_MS = 200
// Ten minutes: long enough for another replica's whole upgrade, short enough for a deploy to fail visibly.
const LOCK_WAIT_MS = 600_000

export type SchemaStatus =
  | { kind: 'current'; applied: string[]; queueVersion: number }
  | { kind: 'behind'; missing: string[]; queueVersion: number | null }
  | { kind: 'ahead'; unknown: string[]; queueVersion: number | null }

/** The change files of this release, in order, without their ending. */
export const knownChanges = (): string[] =>
  readdirSync(CHANGES)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -'.sql'.length))
    .toSorted()

/** Version of pg-boss's schema that the installed package needs. */
export const knownQueueVersion = (): number =>
  (createRequire(import.meta.url)('pg-boss/package.json') as { pgboss: { schema: number } }).pgboss.schema

/** Applies every missing change and pg-boss's schema. Safe to run by several at once; returns what it applied. */
export const applySchema = async (url: string, say: (line: string) => void): Promise<string[]> => {
  const client = await connect(url)
  try {
    await waitForLock(client, say)
    const status = await statusOn(client)
    if (status.kind === 'ahead') throw new AppError('schema/ahead', { unknown: status.unknown.join(', ') })
    const applied = await runner({
      dbClient: client,
      dir: CHANGES,
      direction: 'up',
      schema: 'public',
      migrationsSchema: 'goodstanding',
      migrationsTable: 'schema_changes',
      createMigrationsSchema: true,
      checkOrder: true,
      noLock: true,
      singleTransaction: false,
      log: () => {},
    })
    const queue = await startQueue({ url, supervise: false, migrate: true, onError: () => {} })
    await queue.stop()
    return applied.map((change) => change.name)
  } finally {
    await client.end()
  }
}

/** Compares the database with this release; changes nothing. */
export const schemaStatus = async (url: string): Promise<SchemaStatus> => {
  const client = await connect(url)
  try {
    return await statusOn(client)
  } finally {
    await client.end()
  }
}

const connect = async (url: string) => {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    application_name: 'goodstanding-schema',
  })
  client.on('error', () => {})
  await client.connect()
  return client
}

const waitForLock = async (client: pg.Client, say: (line: string) => void) => {
  for (let waited = 0; ; waited += LOCK_POLL_MS) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
      LOCK_KEY,
    ])
    if (rows[0]?.taken) return
    if (waited === 0) say('another process is applying schema changes; waiting for it')
    if (waited >= LOCK_WAIT_MS) throw new AppError('schema/locked', { waited_ms: waited })
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS))
  }
}

const statusOn = async (client: pg.Client): Promise<SchemaStatus> => {
  const applied = await namesIn(client, 'goodstanding.schema_changes', 'name')
  const [version] = await namesIn(client, 'pgboss.version', 'version')
  const queueVersion = version === undefined ? null : Number(version)
  const known = knownChanges()
  const unknown = applied.filter((name) => !known.includes(name))
  const missing = known.filter((name) => !applied.includes(name))
  if (unknown.length > 0 || (queueVersion ?? 0) > knownQueueVersion()) {
    return {
      kind: 'ahead',
      unknown: [...unknown, ...((queueVersion ?? 0) > knownQueueVersion() ? [`pgboss ${queueVersion}`] : [])],
      queueVersion,
    }
  }
  if (missing.length > 0 || queueVersion === null || queueVersion < knownQueueVersion()) {
    return {
      kind: 'behind',
      missing: queueVersion === knownQueueVersion() ? missing : [...missing, `pgboss ${knownQueueVersion()}`],
      queueVersion,
    }
  }
  return { kind: 'current', applied, queueVersion }
}

const namesIn = async (client: pg.Client, table: string, column: string): Promise<string[]> => {
  const { rows: there } = await client.query<{ there: boolean }>(
    'select to_regclass($1) is not null as there',
    [table],
  )
  if (!there[0]?.there) return []
  const { rows } = await client.query<{ value: string }>(
    `select ${column}::text as value from ${table} order by 1`,
  )
  return rows.map((row) => row.value)
}
