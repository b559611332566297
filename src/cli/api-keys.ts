import type { ApiKey, Scope } from '../api-keys/api-keys.ts'
import { parser } from '../config/parsers.ts'
import { MAX_DATE_MS, parseDuration, toTimestamp } from '../lib/time.ts'
import { type Call, command, group, option } from './command/command.ts'
import { print, printJson, printNotice } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'
import { timestampOrNull, toMinute } from './terminal/text.ts'

const stateOf = ({ revokedAtMs, expiresAtMs }: ApiKey, nowMs: number): 'live' | 'expired' | 'revoked' => {
  if (revokedAtMs !== undefined) return 'revoked'
  return expiresAtMs !== undefined && expiresAtMs <= nowMs ? 'expired' : 'live'
}

const toJson = (key: ApiKey, nowMs: number) => ({
  id: key.id,
  name: key.name,
  scopes: key.scopes,
  state: stateOf(key, nowMs),
  created_at: toTimestamp(key.createdAtMs),
  expires_at: timestampOrNull(key.expiresAtMs),
  revoked_at: timestampOrNull(key.revokedAtMs),
  last_used_at: timestampOrNull(key.lastUsedAtMs),
})

const MEANING: Record<Scope, string> = {
  'users:read': 'find and read users',
  'users:write': 'make, change and delete users; includes users:read',
  'credentials:write': 'set passwords, emails and links of accounts, and reset second factors',
  'sessions:read': 'list the sessions of a user',
  'sessions:write': 'end sessions',
  'audit:read': 'read what happened to accounts, keys and providers',
  'clients:read': 'list and read clients of the OAuth server',
  'clients:write': 'make, change and delete them; includes clients:read',
  'tokens:introspect': 'look at tokens of clients of the OAuth server',
  'revocations:read': 'follow which sessions and grants end',
}

const NEVER = 'never'
const DEFAULT_LIFETIME = '8760h'

const lifetime = parser('a duration such as 720h, or never', (text) => {
  if (text === NEVER) return NEVER
  const ms = parseDuration(text)
  return ms !== undefined && ms >= 1 && ms <= MAX_DATE_MS ? ms : undefined
})

const create = command({
  args: '<name>',
  text: 'make a key, and print it once',
  examples: [
    'svc api-keys create backend --scope users:read',
    'svc api-keys create sync --scope users:write --scope sessions:write --expires 720h',
  ],
  notes: `Scopes:
${Object.entries(MEANING)
  .map(([scope, meaning]) => `  ${scope.padEnd(19)}${meaning}`)
  .join('\n')}

The key is good for a year unless --expires says otherwise. It is stored as a hash, and
cannot be shown again: put it where your backend keeps its secrets.`,
  options: {
    scopes: option.words('--scope <scope>', 'what the key may do; can be repeated'),
    expires: option.parsed('--expires <duration>', 'how long it is good, such as 720h, or never', lifetime),
  },
  async run(call, name: string) {
    const scopes = await requireScopes(call)
    await call.withCore(async ({ core, logEvent }) => {
      const { expires = lifetime.parse(DEFAULT_LIFETIME) } = call.options
      const lifetimeMs = expires === NEVER ? undefined : expires
      const { key, text } = await core.apiKeys.create({ name, scopes, lifetimeMs })
      logEvent('api_key_create', { apiKeyId: key.id })
      if (call.json) return printJson({ ...toJson(key, core.clock.now()), key: text })
      const end = key.expiresAtMs === undefined ? 'it does not expire' : `good until ${toTimestamp(key.expiresAtMs)}`
      printNotice(`the key ${key.name} (${key.scopes.join(', ')}), ${end}; it is shown this once`)
      return print(`${text}\n`)
    })
  },
})

const requireScopes = async ({
  options: { scopes = [] },
  usageError,
}: Call<{ scopes: string[] | undefined }>): Promise<Scope[]> => {
  const { SCOPES, isScope } = await import('../api-keys/api-keys.ts')
  const accepted = `the scopes are ${SCOPES.join(', ')}`
  if (scopes.length === 0) usageError(`give at least one --scope: ${accepted}`)
  return scopes.map((text) =>
    isScope(text) ? text : usageError(`there is no scope ${JSON.stringify(text)}: ${accepted}`),
  )
}

const TONES = { live: 'green', expired: 'yellow', revoked: undefined } as const

const minuteOrNever = (timeMs: number | undefined): string => (timeMs === undefined ? 'never' : toMinute(timeMs))

const columnsAt = (nowMs: number): Column<ApiKey>[] => [
  // This column is never cut, because `revoke` takes the whole name.
  { title: 'name', value: ({ name }) => name },
  { title: 'state', value: (key) => stateOf(key, nowMs), tone: (key) => TONES[stateOf(key, nowMs)] },
  { title: 'scopes', value: ({ scopes }) => scopes.join(' '), minWidth: 10 },
  { title: 'last used (UTC)', value: ({ lastUsedAtMs }) => minuteOrNever(lastUsedAtMs) },
  { title: 'expires (UTC)', value: ({ expiresAtMs }) => minuteOrNever(expiresAtMs) },
  { title: 'id', value: ({ id }) => id, optional: true },
]

const list = command({
  text: 'list the keys of the server API, the newest first',
  examples: ['svc api-keys list', 'svc api-keys list --json'],
  run: (call) =>
    call.withCore(async ({ core }) => {
      const nowMs = core.clock.now()
      await call.list([await core.apiKeys.list()], {
        columns: columnsAt(nowMs),
        toJson: (key) => toJson(key, nowMs),
        empty: 'there are no API keys yet: svc api-keys create makes one',
      })
    }),
})

const revoke = command({
  args: '<key>',
  text: 'end a key, which is named by its name or id',
  examples: ['svc api-keys revoke backend', 'svc api-keys revoke 019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b'],
  run: (call, nameOrId: string) =>
    call.withCore(async ({ core, logEvent }) => {
      const key = await core.apiKeys.revoke(nameOrId)
      logEvent('api_key_revoke', { apiKeyId: key.id })
      const text = `Revoked the key ${key.name}, id ${key.id}: the next request with it is refused.`
      await call.result(toJson(key, core.clock.now()), text)
    }),
})

export const apiKeys = group({
  text: 'make, list and revoke keys with which your backend calls svc',
  examples: ['svc api-keys create backend --scope users:read', 'svc api-keys list', 'svc api-keys revoke backend'],
  commands: { create, list, revoke },
})
