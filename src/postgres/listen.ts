// LISTEN as a hint: tells the worker that a job has just become runnable. Never needed for correctness; polling is
// the contract. A lost connection is opened again; what was missed meanwhile the poll finds.
import pg from 'pg'
import { NOTIFY_CHANNEL_SQL } from './queue.ts'

export type Listener = { healthy: () => boolean; stop: () => Promise<void> }

const RECONNECT_MS = 1_000
// A half-open connection looks alive for ever; a question each ten seconds finds out.
const PROBE_MS = 10_000

/** Calls `wake(queue)` for each announcement, and `wake(null)` after every (re)connect, when some may be missed. */
export const listenForJobs = (url: string, wake: (queue: string | null) => void): Listener => {
  let client: pg.Client | null = null
  let stopped = false
  let healthy = false
  let timer: NodeJS.Timeout | undefined
  const later = (work: () => Promise<void>, ms: number) => {
    clearTimeout(timer)
    if (!stopped) timer = setTimeout(() => void work(), ms).unref()
  }
  const drop = () => {
    healthy = false
    const old = client
    client = null
    void old?.end().catch(() => {})
    later(connect, RECONNECT_MS)
  }
  const probe = async () => {
    try {
      await client?.query('select 1')
      later(probe, PROBE_MS)
    } catch {
      drop()
    }
  }
  const connect = async () => {
    const next = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
      keepAlive: true,
      application_name: 'goodstanding-listen',
    })
    next.on('error', () => client === next && drop())
    next.on('notification', (message) => wake(message.payload ?? null))
    try {
      await next.connect()
      const { rows } = await next.query<{ channel: string }>(`select ${NOTIFY_CHANNEL_SQL} as channel`)
      await next.query(`listen ${next.escapeIdentifier(rows[0]?.channel ?? '')}`)
    } catch {
      void next.end().catch(() => {})
      later(connect, RECONNECT_MS)
      return
    }
    if (stopped) return void next.end().catch(() => {})
    client = next
    healthy = true
    wake(null)
    later(probe, PROBE_MS)
  }
  void connect()
  return {
    healthy: () => healthy,
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      healthy = false
      await client?.end().catch(() => {})
    },
  }
}
