// The generated blocks of the documents: between `<!-- generated:NAME -->` and `<!-- /generated:NAME -->` stands what
// NAME renders to. `npm run docs` rewrites them; a tidy test fails while one is stale.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { openApiDocument } from '../api/openapi.ts'
import { catalogJsonSchema } from '../entitlements/catalog.ts'
import { ERRORS } from '../errors.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { REASONS } from '../reasons.ts'
import { VARIABLES } from '../variables.ts'
import { buildProgram, EXIT_CODES, type Out } from './program.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Documents that may have generated blocks. */
const DOCUMENTS = ['README.md', 'deploy/README.md', 'deploy/env.example'] as const

/** Files that are generated as a whole. */
const WHOLE: Record<string, () => object> = {
  'deploy/catalog.schema.json': catalogJsonSchema,
  'deploy/openapi.json': openApiDocument,
}

/** Rewrites every stale block; prints the documents that it changed. */
export const rewriteDocuments = (out: Out): ExitCode => {
  for (const { file, fresh, current } of compareDocuments()) {
    if (fresh === current) continue
    writeFileSync(ROOT + file, fresh)
    out.result(`rewrote ${file}`)
  }
  return EXIT.ok
}

/** Each document as it is, and as it should be. */
export const compareDocuments = (): { file: string; current: string; fresh: string }[] => [
  ...DOCUMENTS.map((file) => {
    const current = readFileSync(ROOT + file, 'utf8')
    return { file, current, fresh: renderBlocks(current) }
  }),
  ...Object.entries(WHOLE).map(([file, render]) => {
    const current = existsSync(ROOT + file) ? readFileSync(ROOT + file, 'utf8') : ''
    return { file, current, fresh: `${JSON.stringify(render(), null, 2)}\n` }
  }),
]

/** The text with every block rendered; a block that nobody renders is an error. */
export const renderBlocks = (text: string): string =>
  text.replaceAll(
    /(<!-- generated:(?<name>\w+) -->\n)[^]*?(?<end>[^\n]*<!-- \/generated:\k<name> -->)/g,
    (_all, start: string, name: string, end: string) => {
      const render = RENDERERS[name]
      if (render === undefined) throw new TypeError(`no block is called ${name}`)
      return `${start}${render()}\n${end}`
    },
  )

const renderVariables = (): string =>
  table(
    ['variable', 'default', 'what it is'],
    VARIABLES.map(({ name, description, expects, secret, default: without }) => [
      `\`${name}\`${secret ? ' (or `_FILE`)' : ''}`,
      without,
      `${description} Expected: ${expects}.`,
    ]),
  )

const renderEnvironment = (): string =>
  VARIABLES.map(({ name, description, expects, secret, default: without }) =>
    [
      `# ${description.replaceAll('`', '')}`,
      `# Expected: ${expects}. Default: ${without.replaceAll('`', '')}.`,
      ...(secret ? [`#${name}_FILE=`] : []),
      `#${name}=`,
      '',
    ].join('\n'),
  ).join('\n')

const renderCommands = (): string => {
  const nowhere = { env: {}, out: { result: () => {}, problem: () => {} }, now: () => 0 }
  const rows = leaves(buildProgram(nowhere), [])
  return table(['command', 'what it does'], rows)
}

// Commander keeps hidden commands out of what help shows.
const leaves = (command: Command, path: string[]): string[][] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((sub) => sub.name() !== 'help')
    .flatMap((sub) => {
      const here = [...path, sub.name()]
      // A group that has options does something by itself, too.
      const inner = leaves(sub, here)
      if (inner.length > 0 && sub.options.length === 0) return inner
      const given = sub.registeredArguments.map((argument) => argument.name().toUpperCase())
      const flags = sub.options.filter(({ mandatory }) => mandatory).map(({ flags: shown }) => shown)
      return [[`\`${[...here, ...given, ...flags].join(' ')}\``, sub.description()], ...inner]
    })

const renderExits = (): string => EXIT_CODES.map(({ code, means }) => `${code} ${means}`).join(' · ')

const renderCodes = (rows: Record<string, { means: string; todo: string }>): string =>
  table(
    ['code', 'what it means', 'what to do'],
    Object.entries(rows).map(([code, { means, todo }]) => [`\`${code}\``, means, todo]),
  )

const RENDERERS: Record<string, () => string> = {
  variables: renderVariables,
  environment: renderEnvironment,
  commands: renderCommands,
  exits: renderExits,
  reasons: () => renderCodes(REASONS),
  errors: () => renderCodes(ERRORS),
}

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`)
    .join('\n')
