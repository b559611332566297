import type { Command } from 'commander'
import { addAuditExport } from './audit-export.ts'
import { addAuditList } from './audit-list.ts'
import { addCommand } from './command.ts'
import type { CommandContext } from './command-context.ts'

/** `svc audit`: the commands about records of what happened. */
export const addAudit = (program: Command, context: CommandContext): void => {
  const audit = addCommand(program, 'audit', 'show what happened, and who did it', [
    'svc audit list --user ada@example.com',
    'svc audit export --since 24h',
  ])
  addAuditList(audit, context)
  addAuditExport(audit, context)
}
