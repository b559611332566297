import type { Command } from 'commander'
import { addCommand } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { addSessionsList } from './sessions-list.ts'
import { addSessionsRevoke } from './sessions-revoke.ts'

/** `svc sessions`: the commands about sessions. */
export const addSessions = (program: Command, context: CommandContext): void => {
  const sessions = addCommand(program, 'sessions', 'list and end sessions', [
    'svc sessions list ada@example.com',
    'svc sessions revoke ada',
    'svc sessions revoke --all',
  ]).addHelpText('after', '\nUSER is an id, an email or a username.')
  addSessionsList(sessions, context)
  addSessionsRevoke(sessions, context)
}
