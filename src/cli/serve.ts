// `serve`: the running service. Refuses a schema that it does not know; ends by draining, with exit code 0.
import type { Config } from '../config.ts'
import { EXIT } from '../exit.ts'
import { createLog, type Log } from '../log.ts'
import { openMetrics, type Metrics } from '../metrics.ts'
import { applySchema } from '../postgres/schema.ts'
import { openRuntime, type Runtime } from '../runtime.ts'
import { createApp, listen, type Listening } from '../server.ts'
import { SECOND_MS } from '../time.ts'
import { openDatabaseUrl } from './database-url.ts'
import { requireSchema } from './schema.ts'

const HTTP_GRACE_MS = 10 * SECOND_MS

/** Runs until a signal; resolves with the exit code. */
export const serve = async (config: Config): Promise<number> => {
  const metrics = openMetrics()
  const log = createLog({ level: config.logLevel, onAlert: metrics.alert })
  const database = await openDatabaseUrl(config, (line) => log.info(line))
  try {
    if (database.embedded) await applySchema(database.url, (line) => log.info(line))
    await requireSchema(database.url)
    await run(config, database.url, { log, metrics })
    return EXIT.ok
  } finally {
    await database.close()
  }
}

const run = async (
  config: Config,
  url: string,
  { log, metrics }: { log: Log; metrics: Metrics },
): Promise<void> => {
  const signal = firstSignal()
  const runtime = await openRuntime(config, url, log, metrics)
  try {
    sayAccounts(config, log)
    const servers = await startServers(config, runtime, log)
    const work = config.role === 'web' ? null : await runtime.startWork()
    log.info({ role: config.role, ports: servers.map(({ port }) => port) }, 'serve.ready')
    const name = await signal
    log.info({ signal: name }, 'serve.draining')
    runtime.beginDrain()
    await Promise.all([...servers.map((server) => server.close(HTTP_GRACE_MS)), work?.drain()])
  } finally {
    await runtime.stop()
  }
  log.info('serve.stopped')
}

// The first signal drains; a second one ends the process at once.
const firstSignal = (): Promise<string> =>
  new Promise((resolve) => {
    let asked = false
    for (const name of ['SIGTERM', 'SIGINT'] as const) {
      process.on(name, () => {
        if (asked) process.exit(EXIT.interrupted)
        asked = true
        resolve(name)
      })
    }
  })

const sayAccounts = (config: Config, log: Log) => {
  // A web process needs no key; whether the workers have one is theirs to say.
  if (config.role === 'web') return
  for (const account of config.accounts) {
    if (account.apiKey === null) {
      log.warn({ account: account.name }, 'account has no API key: decided from payloads alone')
    }
  }
}

const startServers = async (config: Config, runtime: Runtime, log: Log): Promise<Listening[]> => {
  const { context } = runtime
  const { host, port, apiPort, metricsPort } = config
  const servers: Listening[] = []
  if (config.role !== 'worker') {
    servers.push(
      await listen(createApp(context, { serve: apiPort === null ? 'both' : 'webhooks' }), {
        host,
        port,
        log,
      }),
    )
    if (apiPort !== null)
      servers.push(await listen(createApp(context, { serve: 'api' }), { host, port: apiPort, log }))
  }
  if (metricsPort !== null)
    servers.push(await listen(createApp(context, { serve: 'metrics' }), { host, port: metricsPort, log }))
  return servers
}
