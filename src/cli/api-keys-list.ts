import type { Command } from 'commander'
import type { ApiKey } from '../api-keys/api-keys.ts'
import { apiKeyToJson, stateOfKey } from './api-key-output.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { printList, toMinute } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'
import { withCore } from './with-core.ts'

/** `svc api-keys list` */
export const addApiKeysList = (apiKeys: Command, { loadConfig }: CommandContext): void => {
  const list = addCommand(apiKeys, 'list', 'list the keys of the server API, the newest first', [
    'svc api-keys list',
    'svc api-keys list --json',
  ])
  withJson(list).action(({ json }: JsonOption) =>
    withCore(loadConfig(), async (core) => {
      const nowMs = core.clock.now()
      const listing = {
        columns: columnsAt(nowMs),
        toJson: (key: ApiKey) => apiKeyToJson(key, nowMs),
        empty: 'there are no API keys yet: svc api-keys create makes one',
      }
      await printList([await core.apiKeys.list()], listing, json)
    }),
  )
}

const TONES = { live: 'green', expired: 'yellow', revoked: undefined } as const

const columnsAt = (nowMs: number): Column<ApiKey>[] => [
  // Never cut, because `revoke` takes the whole name.
  { title: 'name', value: ({ name }) => name },
  { title: 'state', value: (key) => stateOfKey(key, nowMs), tone: (key) => TONES[stateOfKey(key, nowMs)] },
  { title: 'scopes', value: ({ scopes }) => scopes.join(' '), minWidth: 10 },
  { title: 'last used (UTC)', value: ({ lastUsedAtMs }) => minuteOr('never', lastUsedAtMs) },
  { title: 'expires (UTC)', value: ({ expiresAtMs }) => minuteOr('never', expiresAtMs) },
  { title: 'id', value: ({ id }) => id, optional: true },
]

const minuteOr = (otherwise: string, timeMs: number | undefined): string =>
  timeMs === undefined ? otherwise : toMinute(timeMs)
