// Where the database is: DATABASE_URL, or the embedded one, which is started for as long as the command runs.
import type { Config } from '../config.ts'
import { startEmbedded } from '../postgres/embedded.ts'

export type OpenedDatabase = { url: string; embedded: boolean; close: () => Promise<void> }

/** Opens the configured database. */
export const openDatabaseUrl = async (
  config: Config,
  say: (line: string) => void,
): Promise<OpenedDatabase> => {
  const { database } = config
  if ('url' in database) return { url: database.url.reveal(), embedded: false, close: async () => {} }
  const server = await startEmbedded(database.directory)
  say(
    `DATABASE_URL is not set: using an embedded PostgreSQL in ${database.directory} (for trying out, not for production).`,
  )
  return { url: server.url, embedded: true, close: server.stop }
}

/** Runs `work` with the database's URL, then closes what was started for it. */
export const withDatabaseUrl = async <T>(
  config: Config,
  say: (line: string) => void,
  work: (url: string) => Promise<T>,
): Promise<T> => {
  const database = await openDatabaseUrl(config, say)
  try {
    return await work(database.url)
  } finally {
    await database.close()
  }
}
