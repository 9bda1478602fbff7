// Runs operators' commands: input checked by the operation's own schema, asked before it acts, shown for people or as
// JSON, ended with the exit code of its answer.
import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import type { Operation } from '../operate/operation.ts'
import { OPERATIONS, type OperationName } from '../operate/operations.ts'
import type { Answer, Parts, Refusal, Signed } from '../operate/parts.ts'
import type { BesideStripe } from '../operate/events.ts'
import { withParts } from './operator.ts'
import { ACTING, EITHER, GROUPS, LOOKING, type CommandRow } from './operate-table.ts'
import type { Out, Surroundings } from './program.ts'
import { RENDER } from './render.ts'

type Configured = (work: (config: Config, out: Out) => Promise<number>) => () => Promise<void>
type Ends = (code: number) => void
type Options = Record<string, unknown> & {
  json?: boolean
  yes?: boolean
  dryRun?: boolean
  operator?: string
  reason?: string
}

/** Adds every command of operators. */
export const addOperate = (
  program: Command,
  around: Surroundings,
  configured: Configured,
  ends: Ends,
): void => {
  const runs = runner(around, configured, ends)
  for (const row of LOOKING) described(program, row).action(runs(row))
  for (const row of ACTING) signed(described(program, row)).action(runs(row))
  for (const { looks, acts, acting, about } of EITHER) {
    const act = runs(acts)
    const look = runs(looks)
    signed(described(program, looks).option(acting, about)).action((...given: unknown[]) => {
      const command = given.at(-1) as Command
      return command.opts()[acting.slice(2)] === true ? act(...given) : look(...given)
    })
  }
  addDrift(program, runs)
}

// `drift` compares; `--dry-run` only shows, and needs no signature.
const addDrift = (program: Command, runs: Runner) => {
  const row: CommandRow = { path: 'drift', operation: 'drift-run' }
  const drift = group(program, 'drift').description(OPERATIONS['drift-run'].about)
  signed(drift.option('--json', 'for programs').option('--account <name>', 'of which account')).action(
    runs(row),
  )
}

const group = (program: Command, name: string): Command =>
  program.commands.find((each) => each.name() === name) ??
  program.command(name).description(GROUPS[name] ?? '')

const described = (program: Command, { path, operation, args, options, example }: CommandRow): Command => {
  const [first = '', second] = path.split(' ')
  const command = second === undefined ? program.command(first) : group(program, first).command(second)
  command.description(OPERATIONS[operation].about).option('--json', 'for programs')
  for (const [field, about] of args ?? []) command.argument(`<${field}>`, about)
  for (const [flags, about] of options ?? []) command.option(flags, about)
  if (example !== undefined) command.addHelpText('after', `\nExample: goodstanding ${example}`)
  return command
}

const signed = (command: Command): Command =>
  command
    .option('--operator <who>', 'your name, for the record')
    .option('--reason <why>', 'why, for the record')
    .option('--dry-run', 'shows what would happen; nothing does')
    .option('--yes', 'do not ask')

type Action = (...given: unknown[]) => Promise<void>
type Runner = (row: CommandRow) => Action

/** Checks what was typed before anything is opened, then runs it. */
const runner =
  (around: Surroundings, configured: Configured, ends: Ends): Runner =>
  (row) =>
  async (...given) => {
    const command = given.at(-1) as Command
    const options = command.optsWithGlobals<Options>()
    const fields = (row.args ?? []).map(([field], index) => [field, given[index]] as const)
    const checked = check(row, options, inputOf(row, options, fields))
    if (checked.kind === 'ready')
      return configured((config, out) => run(config, { ...around, out }, row, { options, ...checked }))()
    for (const complaint of checked.complaints) around.out.problem(complaint)
    ends(EXIT.usage)
  }

type Checked = { kind: 'ready'; input: unknown; by: Signed } | { kind: 'wrong'; complaints: string[] }

const check = ({ path, operation: name }: CommandRow, options: Options, input: object): Checked => {
  const { input: schema, writes } = OPERATIONS[name] as unknown as Operation<unknown, unknown>
  const parsed = schema.safeParse(input)
  if (!parsed.success)
    return {
      kind: 'wrong',
      complaints: parsed.error.issues.map((issue) => `${issue.path.join('.') || path}: ${issue.message}`),
    }
  const { operator = '', reason = '', dryRun } = options
  if (writes && dryRun !== true && (operator === '' || reason === ''))
    return {
      kind: 'wrong',
      complaints: [
        `${path} is recorded: say who (--operator) and why (--reason), or look first (--dry-run).`,
      ],
    }
  return {
    kind: 'ready',
    input: parsed.data,
    by: { operator: operator || 'dry run', reason: reason || 'dry run' },
  }
}

// What is no field of the operation is the command's own.
const OWN = new Set(['json', 'yes', 'dryRun', 'operator', 'store', 'unlinked', 'apply', 'discard'])

const inputOf = (
  { operation }: CommandRow,
  options: Options,
  fields: readonly (readonly [string, unknown])[],
): Record<string, unknown> => {
  const signs = OPERATIONS[operation].writes
  const own = Object.entries(options).filter(([name]) => !OWN.has(name) && !(signs && name === 'reason'))
  const how = options['apply'] === true ? 'apply' : options['discard'] === true ? 'discard' : undefined
  return {
    ...Object.fromEntries([...own, ...fields]),
    ...(operation === 'resolve' && { how: options['apply'] === options['discard'] ? undefined : how }),
    ...(typeof options['value'] === 'string' && { value: valueOf(options['value']) }),
  }
}

const valueOf = (text: string): boolean | number | string => {
  if (text === 'true' || text === 'false') return text === 'true'
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}

type Asked = { options: Options; input: unknown; by: Signed }

const run = (
  config: Config,
  around: Surroundings,
  row: CommandRow,
  { options, input, by }: Asked,
): Promise<number> => {
  const { out, now } = around
  const operation = OPERATIONS[row.operation] as unknown as Operation<unknown, unknown>
  const dryRun = options.dryRun === true
  return withParts(config, { out, now, dryRun }, async (parts) => {
    const looked = row.looks === true ? await look(parts, out, options, input) : null
    if (looked?.kind === 'refused') return refused(out, looked)
    if (operation.writes && !dryRun && !(await agreed(around, row, options))) return EXIT.usage
    const epoch = looked === null ? {} : { epoch: looked.data.event.epoch }
    const answer = await operation.run(parts, { ...(input as object), ...epoch }, by)
    if (dryRun) out.problem('Dry run: nothing was written.')
    return shown(out, row.operation, answer, options)
  })
}

// Before something is done to a dead letter, it is shown beside Stripe, and only that life of it is acted upon.
const look = async (
  parts: Parts,
  out: Out,
  { json }: Options,
  input: unknown,
): Promise<Answer<BesideStripe>> => {
  const { event, account } = input as { event: string; account?: string }
  const beside = await OPERATIONS['dead-show'].run(parts, { event, account }, { operator: '', reason: '' })
  if (beside.kind === 'answer' && json !== true)
    for (const line of RENDER['dead-show'](beside.data)) out.result(line)
  return beside
}

const agreed = async (
  { confirm, out }: Surroundings,
  { path }: CommandRow,
  { yes }: Options,
): Promise<boolean> => {
  if (yes === true) return true
  if (confirm === undefined) {
    out.problem(`${path} acts at once: say --yes where nobody can be asked.`)
    return false
  }
  if (await confirm(`${path}: go on?`)) return true
  out.problem('Nothing was done.')
  return false
}

const CODES = {
  bad_request: EXIT.usage,
  not_found: EXIT.not_found,
  conflict: EXIT.conflict,
  unavailable: EXIT.try_again,
} as const

const refused = (out: Out, { as, message }: Refusal): ExitCode => {
  out.problem(message)
  return CODES[as]
}

const shown = (out: Out, name: OperationName, answer: Answer<unknown>, { json }: Options): ExitCode => {
  if (answer.kind === 'refused') return refused(out, answer)
  const render = RENDER[name] as (data: unknown) => string[]
  for (const line of json === true ? [JSON.stringify(answer.data)] : render(answer.data)) out.result(line)
  return answer.found === true ? EXIT.found_problems : EXIT.ok
}
