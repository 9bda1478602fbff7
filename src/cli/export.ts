// `audit export`: the whole trail as one JSON object a line, page by page.
import type { Config } from '../config.ts'
import { EXIT } from '../exit.ts'
import { auditExport } from '../operate/audit.ts'
import type { Instant } from '../time.ts'
import { withParts } from './operator.ts'
import type { Out } from './program.ts'

export const exportAudit = (
  config: Config,
  around: { out: Out; now: () => Instant },
  window: { since?: string; until?: string },
): Promise<number> =>
  withParts(config, { ...around, dryRun: false }, async (parts) => {
    for await (const row of auditExport(parts, window)) around.out.result(JSON.stringify(row))
    return EXIT.ok
  })
