// Stripe's own CLI, run against the double: a party that did not write it. Offline, without a login, and with a home of
// its own, so that nobody's real configuration is read or written.
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// The binary itself, not the package's wrapper: whoever ends it must not end only the wrapper.
const FILE = process.platform === 'win32' ? 'stripe.exe' : 'stripe'
const BINARY = fileURLToPath(
  new URL(`../../node_modules/@stripe/cli-${process.platform}-${process.arch}/bin/${FILE}`, import.meta.url),
)

/** The CLI has a binary for few platforms; elsewhere its specs are skipped by name. */
export const hasCli = existsSync(BINARY)

export type CliTarget = { apiBase: string; apiKey: string; env?: Record<string, string> }
export type CliRun = { code: number | null; text: string }

const HOME = mkdtempSync(join(tmpdir(), 'goodstanding-stripe-cli-'))

process.once('exit', () => rmSync(HOME, { recursive: true, force: true }))

/** Environment in which the CLI talks to nobody else and shows plain text. */
const cliEnv = ({ apiKey, env = {} }: CliTarget): Record<string, string | undefined> => ({
  ...process.env,
  HOME,
  XDG_CONFIG_HOME: join(HOME, '.config'),
  STRIPE_API_KEY: apiKey,
  STRIPE_CLI_TELEMETRY_OPTOUT: '1',
  NO_COLOR: '1',
  ...env,
})

/** Starts `stripe ARGS --api-base URL`; for commands that stay, such as `listen`. */
export const startCli = (target: CliTarget, args: string[]): ChildProcess =>
  spawn(BINARY, [...args, '--api-base', target.apiBase], { env: cliEnv(target) })

/** Runs one command to its end; `text` is all that it printed. */
export const runCli = (target: CliTarget, args: string[]): Promise<CliRun> =>
  new Promise((resolve, reject) => {
    const child = startCli(target, args)
    let text = ''
    child.stdout?.on('data', (data: Buffer) => (text += data.toString()))
    child.stderr?.on('data', (data: Buffer) => (text += data.toString()))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, text }))
  })
