import type { Command } from 'commander'
import { addApiKeysCreate } from './api-keys-create.ts'
import { addApiKeysList } from './api-keys-list.ts'
import { addApiKeysRevoke } from './api-keys-revoke.ts'
import { addCommand } from './command.ts'
import type { CommandContext } from './command-context.ts'

/** `svc api-keys`: the commands about the keys of the server API. */
export const addApiKeys = (program: Command, context: CommandContext): void => {
  const apiKeys = addCommand(program, 'api-keys', 'make, list and revoke keys with which your backend calls svc', [
    'svc api-keys create backend --scope users:read',
    'svc api-keys list',
    'svc api-keys revoke backend',
  ])
  addApiKeysCreate(apiKeys, context)
  addApiKeysList(apiKeys, context)
  addApiKeysRevoke(apiKeys, context)
}
