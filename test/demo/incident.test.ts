// The shift on call, as anyone runs it: every step finds what it should, and the process says so.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const SCRIPT = fileURLToPath(new URL('main.ts', import.meta.url))
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))
const MAX_MS = 300_000

// Its database lives in the folder that it is run from.
const play = async (): Promise<{ code: number | null; said: string }> => {
  const folder = mkdtempSync(join(tmpdir(), 'goodstanding-incident-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  symlinkSync(MODULES, join(folder, 'node_modules'))
  const child = spawn(process.execPath, [SCRIPT, '--incident'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said += String(data)))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, said }
}

test(
  'six things go wrong, are found, explained and repaired, with two replicas of everything',
  async () => {
    const { code, said } = await play()

    expect(said).not.toContain('NOT AS IT SHOULD BE')
    expect(said).toMatch(/The end of the shift[^]*All is in order[^]*audit export/)
    expect(code).toBe(0)
  },
  MAX_MS,
)
