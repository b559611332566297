import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { toJsonText } from '../lib/control-characters.ts'
import { type AuditSelection, readSelection, requireType, withSelection } from './audit-query.ts'
import { addCommand } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { printNotice } from './terminal/output.ts'
import { withCore } from './with-core.ts'
import { writing } from './writing.ts'

interface Options extends AuditSelection {
  output?: string
}

/** All records are read as they were at one moment, for as long as that takes. */
const TIMEOUT_MS = 3_600_000

/** `svc audit export` */
export const addAuditExport = (audit: Command, { loadConfig }: CommandContext): void => {
  const command = addCommand(audit, 'export', 'print records, one JSON object a line, the oldest first', [
    'svc audit export --output audit.jsonl',
    'svc audit export --user ada@example.com',
  ])
  withSelection(command)
    .option('--output <file>', 'write to a new file that only its owner can read')
    .addHelpText('after', '\nWith --user, this is what svc has recorded about a person who asks for it.')
    .action(async ({ output, ...selection }: Options) => {
      const type = await requireType(command, selection.type)
      const config: Config = { ...loadConfig(), databaseTimeoutMs: TIMEOUT_MS }
      const count = await withCore(config, async (core) => {
        const { toAuditJson } = await import('../audit/audit-row.ts')
        const query = await readSelection(core, selection, type)
        return writing(output, (write) =>
          core.audit.exportAll(query, (rows) => write(rows.map((row) => `${toJsonText(toAuditJson(row))}\n`).join(''))),
        )
      })
      printNotice(`exported ${count} ${count === 1 ? 'record' : 'records'}`)
    })
}
