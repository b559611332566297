import type { Command } from 'commander'
import { addCommand } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { addIdentitiesList } from './identities-list.ts'
import { addIdentitiesUnlink } from './identities-unlink.ts'

/** `svc identities`: the commands about the providers that users sign in with. */
export const addIdentities = (program: Command, context: CommandContext): void => {
  const identities = addCommand(program, 'identities', 'list and disconnect the providers of a user', [
    'svc identities list ada@example.com',
    'svc identities unlink ada google',
  ]).addHelpText('after', '\nUSER is an id, an email or a username; PROVIDER is a name as in SVC_OAUTH_PROVIDERS.')
  addIdentitiesList(identities, context)
  addIdentitiesUnlink(identities, context)
}
