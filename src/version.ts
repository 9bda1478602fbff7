// The release that runs, from package.json: recorded with every attempt.
import { createRequire } from 'node:module'

export const VERSION: string = (createRequire(import.meta.url)('../package.json') as { version: string })
  .version
