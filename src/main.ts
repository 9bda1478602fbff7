#!/usr/bin/env node
// The command line: argv in, exit code out. The only file with effects at top level; everything else is imported.
import { createInterface } from 'node:readline/promises'
import { runCommand } from './cli/program.ts'

// A handle that somebody left open must not keep a finished command alive.
const LINGER_MS = 5_000

const confirm = async (question: string): Promise<boolean> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim())
  } finally {
    terminal.close()
  }
}

// One line on a terminal that the next one replaces.
let shown = false
const clear = () => {
  if (shown) process.stderr.write('\r\x1b[K')
  shown = false
}
const progress = (line: string) => {
  if (!process.stderr.isTTY) return
  clear()
  process.stderr.write(line)
  shown = true
}

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  out: {
    result: (line) => {
      clear()
      console.log(line)
    },
    problem: (line) => {
      clear()
      console.error(line)
    },
    progress,
  },
  now: Date.now,
  ...(process.stdin.isTTY && process.stderr.isTTY && { confirm }),
})
setTimeout(() => process.exit(), LINGER_MS).unref()
