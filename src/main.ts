#!/usr/bin/env node
// The command line: argv in, exit code out. The only file with effects at top level; everything else is imported.
import { runCommand } from './cli/program.ts'

// A handle that somebody left open must not keep a finished command alive.
const LINGER_MS = 5_000

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  out: { result: (line) => console.log(line), problem: (line) => console.error(line) },
  now: Date.now,
})
setTimeout(() => process.exit(), LINGER_MS).unref()
