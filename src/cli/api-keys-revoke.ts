import type { Command } from 'commander'
import { apiKeyToJson } from './api-key-output.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { print, printJson } from './terminal/output.ts'
import { withCore } from './with-core.ts'

/** `svc api-keys revoke` */
export const addApiKeysRevoke = (apiKeys: Command, { loadConfig }: CommandContext): void => {
  const revoke = addCommand(apiKeys, 'revoke <key>', 'end a key, which is named by its name or id', [
    'svc api-keys revoke backend',
    'svc api-keys revoke 019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b',
  ])
  withJson(revoke).action((nameOrId: string, { json }: JsonOption) =>
    withCore(loadConfig(), async ({ apiKeys: keys, clock }, logEvent) => {
      const key = await keys.revoke(nameOrId)
      logEvent('api-keys revoke', 'api_key_revoke', { apiKeyId: key.id })
      await (json
        ? printJson(apiKeyToJson(key, clock.now()))
        : print(`Revoked the key ${key.name}, id ${key.id}: the next request with it is refused.\n`))
    }),
  )
}
