// An operator at the command line of a world: the real commands, in this process, against the world's database and Stripe.
import { runCommand } from '../../src/cli/program.ts'
import type { World } from './world.ts'

/** Who did it and why, without being asked. */
export const SIGNED = ['--operator', 'ada', '--reason', 'seen and understood', '--yes']

export type Said = { code: number; said: string; problems: string }

/** Runs one command line; the environment is the world's, and `env` on top. */
export const cliOf =
  ({ env, database }: Pick<World, 'env' | 'database'>, also: Record<string, string> = {}) =>
  async (...argv: string[]): Promise<Said> => {
    const said: string[] = []
    const problems: string[] = []
    const code = await runCommand(argv, {
      env: { ...env, DATABASE_URL: database.url, ...also },
      out: { result: (line) => void said.push(line), problem: (line) => void problems.push(line) },
      now: Date.now,
    })
    return { code, said: said.join('\n'), problems: problems.join('\n') }
  }

/** The answer of a command with `--json`. */
export const answerOf = async <T>(run: Promise<Said>): Promise<T> => JSON.parse((await run).said) as T

type Verified = { promise: string; violations: { subject: string; what: string }[] }[]

/** What the auditor (`audit verify`) finds broken in the world's database. */
export const brokenPromises = async (world: Pick<World, 'env' | 'database'>): Promise<Verified> =>
  (await answerOf<Verified>(cliOf(world)('audit', 'verify', '--json'))).filter(
    ({ violations }) => violations.length > 0,
  )
