// The commands of operators, as commander knows them: what is read takes --json, what is written takes --operator and
// --reason. Loaded when they run, like all commands.
import { Option, type Command } from 'commander'
import type { Config } from '../config.ts'
import type { Signed } from './operator.ts'
import type { Out } from './program.ts'

type Configured = (work: (config: Config, out: Out) => Promise<number>) => () => Promise<void>

const LISTED = 50

const signed = (command: Command): Command =>
  command
    .requiredOption('--operator <who>', 'your name, for the record')
    .requiredOption('--reason <why>', 'why, for the record')

const json = () => new Option('--json', 'for programs').default(false)

/** Reading commands. */
export const addInspect = (program: Command, configured: Configured): void => {
  program
    .command('status')
    .description('every account at a glance; exit code 3 if a person should look')
    .addOption(json())
    .action((options: { json: boolean }) =>
      configured(async (config, out) => (await import('./inspect.ts')).status(config, options, out))(),
    )
  program
    .command('dead')
    .description('dead letters')
    .command('list')
    .description('lists dead letters, newest first, with what to do about each')
    .addOption(json())
    .option('--limit <n>', 'at most so many', Number, LISTED)
    .action((options: { json: boolean; limit: number }) =>
      configured(async (config, out) => (await import('./inspect.ts')).deadList(config, options, out))(),
    )
  program
    .command('events')
    .description('events of the inbox')
    .command('show')
    .description('shows one event with all its attempts, without its body')
    .argument('<event>', 'its id, evt_…')
    .addOption(json())
    .action((eventId: string, options: { json: boolean }) =>
      configured(async (config, out) =>
        (await import('./inspect.ts')).eventShow(config, { ...options, eventId }, out),
      )(),
    )
}

type OnEvent = Signed & { account?: string | null; dryRun: boolean }

const onEvent = (command: Command): Command =>
  signed(command)
    .argument('<event>', 'its id, evt_…')
    .option('--account <name>', 'where several accounts have an event of this id')
    .option('--dry-run', 'only show what is there', false)

/** Writing commands. */
export const addRecover = (program: Command, configured: Configured): void => {
  onEvent(program.command('requeue'))
    .description('gives one dead letter another life, with all its attempts')
    .addHelpText('after', '\nExample: requeue evt_1 --operator ada --reason "price is mapped now"')
    .action((eventId: string, { account = null, ...rest }: OnEvent) =>
      configured(async (config, out) =>
        (await import('./recover.ts')).requeue(config, { ...rest, account, eventId }, out),
      )(),
    )
  onEvent(program.command('discard'))
    .description('closes one dead letter: what it said is not applied')
    .addHelpText('after', '\nExample: discard evt_1 --operator ada --reason "a test that went to production"')
    .action((eventId: string, { account = null, ...rest }: OnEvent) =>
      configured(async (config, out) =>
        (await import('./recover.ts')).discard(config, { ...rest, account, eventId }, out),
      )(),
    )
  const account = program.command('account').description('the Stripe accounts that we serve')
  signed(account.command('pause'))
    .description('stops all reads of an account: its events are stored, nothing is applied')
    .argument('<account>', 'its name')
    .action((name: string, options: Signed) =>
      configured(async (config, out) =>
        (await import('./recover.ts')).accountPause(config, { account: name, ...options }, out),
      )(),
    )
  signed(account.command('resume'))
    .description('lifts any pause of an account, also one that nothing else may lift')
    .argument('<account>', 'its name')
    .action((name: string, options: Signed) =>
      configured(async (config, out) =>
        (await import('./recover.ts')).accountResume(config, { account: name, ...options }, out),
      )(),
    )
}
