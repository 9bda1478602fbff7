// The command line as people type it: exit codes, and where each line goes.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runCommand } from '../src/cli/program.ts'

const run = async (line: string, env: Record<string, string> = {}) => {
  const result: string[] = []
  const problem: string[] = []
  const out = { result: (text: string) => result.push(text), problem: (text: string) => problem.push(text) }
  const code = await runCommand(line.split(' '), { env, out, now: () => 0 })
  return { code, result: result.join('\n'), problem: problem.join('\n') }
}

test.each([
  ['srve', 'Did you mean serve?'],
  ['schema aply', 'Did you mean apply?'],
  ['serve now', 'too many arguments'],
  ['token create app', "required option '--scope <scope...>'"],
  ['token create app --scope write', 'Allowed choices are read, explain, operate, admin'],
  ['token create a/b --scope read', 'Expected letters'],
  ['token create app --scope read --days 0', 'Expected a whole number, 1 to 3650'],
  ['activate eu --operator me', 'say who (--operator) and why (--reason)'],
  ['grant add acme sso --until tomorrow', 'until: expected a time such as'],
  ['events list --state late', 'state: Invalid option'],
  ['requeue', "missing required argument 'event'"],
])('`%s` is a usage error that says: %s', async (line, complaint) => {
  const { code, result, problem } = await run(line)
  expect({ code, result }).toEqual({ code: 2, result: '' })
  expect(problem).toContain(complaint)
})

test.each(['help', '--help', 'help schema'])('`%s` prints to standard output and exits 0', async (line) => {
  expect(await run(line)).toMatchObject({ code: 0, result: expect.stringContaining('Usage: goodstanding') })
})

test('help lists the exit codes', async () => {
  expect((await run('help')).result).toContain('78 configuration')
})

test('a wrong configuration exits 78 and prints every problem', async () => {
  const { code, problem } = await run('doctor', { PORT: 'x', ROLE: 'y' })
  expect(code).toBe(78)
  expect(problem.split('\n')).toHaveLength(3)
})

test('`token create` needs no other configuration, and prints nothing but the token', async () => {
  const { code, result } = await run('token create app --scope read operate --days 7')
  expect(code).toBe(0)
  expect(result).toMatch(/^gs_[\w-]{43}$/)
})

test('a shell completes the commands of a group', () => {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
  const { stdout } = spawnSync(process.execPath, [main, 'complete', '--', 'dead', ''], { encoding: 'utf8' })

  expect(stdout).toMatch(/^groups\tDead letters by what they died of\.$/m)
})
