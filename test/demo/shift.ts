// Somebody on call at a terminal: runs the real commands, shows what they print, and notes where it is not what it should be.
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '../../src/cli/program.ts'
import { ACCOUNT, until } from '../harness/service.ts'
import type { StripeSim } from '../stripe-sim/sim.ts'
import type { Stand } from './incident.ts'

const SHOWN_LINES = 8
const WIDTH = 150
const SIGNED = ['--operator', 'ada', '--yes', '--reason']

type Say = (line: string) => void

export type Shift = Stand & {
  shop: ReturnType<StripeSim['account']>
  title: (text: string) => void
  tell: (text: string) => void
  /** Runs a command, shows what it prints, and notes whether that matches. Returns it. */
  expect: (argv: string[], match: RegExp) => Promise<string>
  /** The same until it matches: what heals by itself takes a moment. */
  waitFor: (argv: string[], match: RegExp) => Promise<string>
  /** A command that acts, with name and reason. */
  act: (argv: string[], reason: string, match: RegExp) => Promise<string>
  /** What the host product would be told. */
  access: (tenant: string, plan: string) => Promise<void>
  /** Delivers what is pending to both replicas and waits until nothing is due. */
  deliver: () => Promise<void>
  customers: () => Promise<void>
  exported: () => Promise<void>
  right: () => boolean
}

export const openShift = (stand: Stand, say: Say): Shift => {
  const [first] = stand.replicas
  let wrong = 0
  const note = (ok: boolean, what: string) => {
    if (ok) return
    wrong += 1
    say(`  NOT AS IT SHOULD BE: ${what}`)
  }
  return {
    ...stand,
    shop: stand.sim.account(ACCOUNT.name),
    title: (text) => say(`\n${text}`),
    tell: (text) => say(`  ${text}`),
    ...commands(stand, say, note),
    access: async (tenant, plan) => {
      const { body } = await first.read(tenant)
      say(`  ${tenant} has the plan ${String(body['plan'])}.`)
      note(body['plan'] === plan, `${tenant} should have ${plan}`)
    },
    deliver: () => deliver(stand),
    customers: () => firstCustomers(stand, say),
    right: () => wrong === 0,
  }
}

const deliver = async ({ sim, replicas: [first] }: Stand) => {
  await sim.delivery.flush()
  await first.settle(60_000)
}

const firstCustomers = async (stand: Stand, say: Say) => {
  const shop = stand.sim.account(ACCOUNT.name)
  for (const tenant of ['acme', 'bolt', 'crux', 'dune']) {
    const { id } = shop.customer({ metadata: { tenant_id: tenant } })
    shop.subscribe(id, { items: [{ price: 'price_pro', quantity: 2 }] })
  }
  await deliver(stand)
  await until('all have access', async () => (await stand.replicas[0].read('dune')).body['plan'] === 'pro')
  say('Four tenants have bought; two replicas receive, answer and work. The shift begins.')
}

type Note = (ok: boolean, what: string) => void

const commands = (
  { replicas: [first], databaseUrl }: Stand,
  say: Say,
  note: Note,
): Pick<Shift, 'expect' | 'waitFor' | 'act' | 'exported'> => {
  const run = async (argv: readonly string[]): Promise<string> => {
    const lines: string[] = []
    const out = {
      result: (line: string) => void lines.push(line),
      problem: (line: string) => void lines.push(line),
    }
    await runCommand(argv, { env: { ...first.env, DATABASE_URL: databaseUrl }, out, now: Date.now })
    return lines.join('\n')
  }
  const check = (argv: readonly string[], said: string, match: RegExp) => {
    show(say, argv, said)
    note(match.test(said), `${argv.join(' ')} should say ${match}`)
    return said
  }
  return {
    expect: async (argv, match) => check(argv, await run(argv), match),
    waitFor: async (argv, match) => {
      let said = await run(argv)
      for (let tries = 0; tries < 60 && !match.test(said); tries += 1) {
        await sleep(500)
        said = await run(argv)
      }
      return check(argv, said, match)
    },
    act: async (argv, reason, match) => {
      const all = [...argv, ...SIGNED, reason]
      return check(all, await run(all), match)
    },
    exported: async () => {
      const lines = (await run(['audit', 'export'])).split('\n')
      const kinds = new Set(lines.map((line) => (JSON.parse(line) as { source: string }).source))
      say(`  $ goodstanding audit export | wc -l\n    ${lines.length}`)
      note(
        kinds.has('operator') && kinds.has('program'),
        'the export should hold what people and the program did',
      )
    },
  }
}

const show = (say: Say, argv: readonly string[], said: string) => {
  say(`  $ goodstanding ${argv.map((word) => (/\s/.test(word) ? JSON.stringify(word) : word)).join(' ')}`)
  const lines = said.split('\n')
  for (const line of lines.slice(0, SHOWN_LINES)) say(`    ${line.slice(0, WIDTH)}`)
  if (lines.length > SHOWN_LINES) say(`    … ${lines.length - SHOWN_LINES} lines more`)
}
