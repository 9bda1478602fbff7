// Every command of `goodstanding`: names, arguments, what each is for. Commands are loaded when they run, so that
// `help` and `token create` open nothing. Makes no decision of its own and ends no process.
import tab from '@bomb.sh/tab/commander'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { loadConfig, tokensFileOf, type Config } from '../config.ts'
import { AppError, ERRORS, exitCodeOf } from '../errors.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { SCOPES, type Scope } from '../tokens.ts'
import { addOperate } from './operate-commands.ts'

/** Where a command writes: results to standard output, everything else to standard error. */
export type Out = {
  result: (line: string) => void
  problem: (line: string) => void
  /** How far long work has come, where somebody watches. */
  progress?: (line: string) => void
}

export type Surroundings = {
  env: Record<string, string | undefined>
  out: Out
  now: () => number
  /** Asks the person at the terminal; absent where there is none. */
  confirm?: (question: string) => Promise<boolean>
}

/** Exit codes in words, for help and the README. */
export const EXIT_CODES: readonly { code: number; means: string }[] = Object.entries(EXIT).map(
  ([name, code]) => ({
    code,
    means: name.replaceAll('_', ' '),
  }),
)

const DAYS_DEFAULT = 365
const DASHBOARD_PORT = 3_000
const DAYS_MAX = 3_650

/** Runs one command line (without node and script). Returns the exit code; never throws. */
export const runCommand = async (argv: readonly string[], around: Surroundings): Promise<number> => {
  let code: number = EXIT.ok
  const program = buildProgram(around, (ended) => (code = ended))
  try {
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    return explain(error, around.out)
  }
}

/** The commands, as commander knows them. `ends` gets the exit code of the one that ran. */
export const buildProgram = (around: Surroundings, ends: (code: number) => void = () => {}): Command => {
  const program = new Command('goodstanding')
    .description('What may this tenant use now? Stripe webhooks in, entitlements out.')
    .exitOverride()
    .showSuggestionAfterError(true)
    .showHelpAfterError('Run `goodstanding help` for all commands.')
    .configureOutput({
      writeOut: (text) => around.out.result(text.trimEnd()),
      writeErr: (text) => around.out.problem(text.trimEnd()),
    })
    .addHelpText(
      'after',
      `\nExit codes: ${EXIT_CODES.map(({ code, means }) => `${code} ${means}`).join(' · ')}`,
    )
  const configured = (work: (config: Config, out: Out) => Promise<number>) => async () => {
    const loaded = loadConfig(around.env)
    if (loaded.kind === 'config') return ends(await work(loaded.config, around.out))
    for (const problem of loaded.problems) around.out.problem(problem)
    ends(EXIT.configuration)
  }
  addServices(program, configured, around)
  addToken(program, around, ends)
  addOperate(program, around, configured, ends)
  addDashboard(program, configured)
  addAuditExport(program, configured, around)
  program
    .command('docs', { hidden: true })
    .description('rewrites the generated blocks of the documents (contributors)')
    .action(async () => ends((await import('./docs.ts')).rewriteDocuments(around.out)))
  // Adds `completion SHELL`, and the hidden `complete` that its scripts call.
  tab(program, { completionCommandName: 'completion' })
  return program
}

type Configured = (work: (config: Config, out: Out) => Promise<number>) => () => Promise<void>

const addServices = (program: Command, configured: Configured, { now }: Surroundings) => {
  program
    .command('serve')
    .description('receives webhooks, answers the API and works events, as ROLE says')
    .action(configured(async (config) => (await import('./serve.ts')).serve(config)))
  const schema = program.command('schema').description('the database schema')
  schema
    .command('apply')
    .description('applies missing schema changes; safe to run by several at once')
    .action(configured(async (config, out) => (await import('./schema.ts')).applySchema(config, out)))
  schema
    .command('status')
    .description('compares the database with this release; changes nothing')
    .action(configured(async (config, out) => (await import('./schema.ts')).schemaStatus(config, out)))
  program
    .command('doctor')
    .description('checks configuration, database and Stripe; exit code 3 if something is wrong')
    .option('--json', 'for programs', false)
    .option('--rollout', 'also what must hold before real money is activated', false)
    .action((options: { json: boolean; rollout: boolean }) =>
      configured(async (config, out) =>
        (await import('./doctor.ts')).doctor(config, { ...options, now }, out),
      )(),
    )
}

// A stream, not an answer: one JSON object a line, however long the trail is.
const addAuditExport = (program: Command, configured: Configured, { now }: Surroundings) => {
  program.commands
    .find((each) => each.name() === 'audit')
    ?.command('export')
    .description('Everything that people and the program did, one JSON object a line.')
    .option('--since <time>', 'recorded since')
    .option('--until <time>', 'recorded before')
    .action((window: { since?: string; until?: string }) =>
      configured(async (config, out) =>
        (await import('./export.ts')).exportAudit(config, { out, now }, window),
      )(),
    )
}

const addDashboard = (program: Command, configured: Configured) => {
  program
    .command('dashboard')
    .description("pg-boss's own dashboard, read-only, on loopback with a password")
    .option('--port <n>', 'where', Number, DASHBOARD_PORT)
    .action((options: { port: number }) =>
      configured(async (config, out) => (await import('./dashboard.ts')).dashboard(config, options, out))(),
    )
}

const addToken = (program: Command, around: Surroundings, ends: (code: number) => void) => {
  program
    .command('token')
    .description('API tokens')
    .command('create')
    .description('makes an API token and prints it once')
    .argument('<name>', 'who will use it', tokenName)
    .addOption(new Option('--scope <scope...>', 'what it may do').choices(SCOPES).makeOptionMandatory())
    .option('--days <n>', 'valid for so many days', days, DAYS_DEFAULT)
    .action(async (name: string, options: { scope: Scope[]; days: number }) => {
      const { createToken } = await import('./token.ts')
      const file = tokensFileOf(around.env)
      ends(
        createToken({ name, scopes: options.scope, days: options.days, file, now: around.now() }, around.out),
      )
    })
}

const tokenName = (value: string): string => {
  if (/^[\w.@-]{1,64}$/.test(value)) return value
  throw new InvalidArgumentError('Expected letters, digits, . _ @ and -, at most 64.')
}

const days = (value: string): number => {
  const count = /^\d{1,4}$/.test(value) ? Number(value) : 0
  if (count >= 1 && count <= DAYS_MAX) return count
  throw new InvalidArgumentError(`Expected a whole number, 1 to ${DAYS_MAX}.`)
}

// Commander has written its own complaint already; of our errors the table says what to do.
const explain = (error: unknown, out: Out): ExitCode => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (error instanceof AppError) {
    out.problem(error.message)
    out.problem(`${ERRORS[error.code].means} ${ERRORS[error.code].todo}`)
    return exitCodeOf(error)
  }
  out.problem(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return EXIT.failed
}
