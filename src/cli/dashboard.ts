// `dashboard`: pg-boss's own dashboard beside our queue, for a look: read-only, with a password, on loopback only. It is a
// development dependency; everything that it cannot show has a command or a query of ours.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Config } from '../config.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { withDatabaseUrl } from './database-url.ts'
import type { Out } from './program.ts'

const PACKAGE = '@pg-boss/dashboard'
const USER = 'goodstanding'
const LOOPBACK = '127.0.0.1'

/** Runs until it is ended; exit code 78 where the package is not installed. */
export const dashboard = (config: Config, { port }: { port: number }, out: Out): Promise<number> => {
  const script = scriptOf()
  if (script === null) {
    out.problem(`${PACKAGE} is not installed (it is a development dependency): npm i -D ${PACKAGE}@1.9.0`)
    return Promise.resolve(EXIT.configuration)
  }
  const password = randomBytes(9).toString('base64url')
  return withDatabaseUrl(config, out.problem, (url) => {
    out.result(`http://${LOOPBACK}:${port}  user ${USER}  password ${password}  (read-only; Ctrl-C ends it)`)
    return run(script, {
      DATABASE_URL: url,
      PGBOSS_SCHEMA: 'pgboss',
      HOST: LOOPBACK,
      PORT: String(port),
      PGBOSS_DASHBOARD_AUTH_USERNAME: USER,
      PGBOSS_DASHBOARD_AUTH_PASSWORD: password,
      PGBOSS_DASHBOARD_READ_ONLY: '1',
      NODE_ENV: 'production',
    })
  })
}

const scriptOf = (): string | null => {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`)
    return join(dirname(manifest), 'bin/cli.js')
  } catch {
    return null
  }
}

// Ends with us, and says so by its code.
const run = (script: string, env: Record<string, string>): Promise<ExitCode> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [script], { env, stdio: ['ignore', 'ignore', 'inherit'] })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal))
    child.once('error', () => resolve(EXIT.failed))
    child.once('close', (code, signal) => resolve(code === 0 || signal !== null ? EXIT.ok : EXIT.failed))
  })
