// The sources as text, for the tidy tests: type stripping forces explicit relative `.ts` specifiers, so the import
// graph can be read from the import lines.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export type SourceFile = { path: string; text: string }
export type Import = { target: string; typeOnly: boolean }

/** Every .ts file below a folder of the repository, with its path from that folder. */
export const sourceFiles = (folder: 'src' | 'test'): SourceFile[] =>
  globSync('**/*.ts', { cwd: join(ROOT, folder) })
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(ROOT, folder, path), 'utf8') }))

const STATIC = /^(?:import|export)\s+(?<type>type\b)?(?:[^'"]*?\bfrom\s+)?'(?<target>[^']+)'/gm
const DYNAMIC = /\bimport\('(?<target>[^']+)'\)/g

/** What a file imports. Relative targets are paths from the same folder as `path`. */
export const importsOf = ({ path, text }: SourceFile): Import[] =>
  [...text.matchAll(STATIC), ...text.matchAll(DYNAMIC)].map((match) => {
    const target = match.groups?.['target'] ?? ''
    return {
      target: target.startsWith('.') ? normalize(join(dirname(path), target)) : target,
      typeOnly: match.groups?.['type'] !== undefined,
    }
  })

/** The code without its comments, for rules about what it does. */
export const codeOf = ({ text }: SourceFile): string =>
  text.replaceAll(/\/\*[^]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1')

/** Is there such a file or folder in the repository? */
export const exists = (path: string): boolean => existsSync(join(ROOT, path))

export const readText = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
