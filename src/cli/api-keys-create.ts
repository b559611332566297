import { type Command, InvalidArgumentError } from 'commander'
import type { Scope } from '../api-keys/api-keys.ts'
import { MAX_DATE_MS, parseDuration, toTimestamp } from '../lib/time.ts'
import { apiKeyToJson } from './api-key-output.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { print, printJson, printNotice } from './terminal/output.ts'
import { addRole as addScope, splitRoles as splitScopes } from './users-create.ts'
import { withCore } from './with-core.ts'

const NEVER = 'never'
const DEFAULT_LIFETIME = '8760h'

interface CreateKeyOptions extends JsonOption {
  scope?: string[]
  /** Milliseconds. */
  expires?: number | typeof NEVER
}

/** `svc api-keys create` */
export const addApiKeysCreate = (apiKeys: Command, { loadConfig }: CommandContext): void => {
  const create = addCommand(apiKeys, 'create <name>', 'make a key, and print it once', [
    'svc api-keys create backend --scope users:read',
    'svc api-keys create sync --scope users:write --scope sessions:write --expires 720h',
  ])
    .addHelpText('after', HELP)
    .option('--scope <scope>', 'what the key may do; can be repeated', addScope)
    .option('--expires <duration>', 'how long it is good, such as 720h, or never', parseLifetime)
  withJson(create).action(async (name: string, options: CreateKeyOptions) => {
    const { SCOPES, isScope } = await import('../api-keys/api-keys.ts')
    const accepted = `the scopes are ${SCOPES.join(', ')}`
    const scopes = splitScopes(options.scope ?? []).map(
      (text): Scope =>
        isScope(text) ? text : create.error(`error: there is no scope ${JSON.stringify(text)}: ${accepted}`),
    )
    if (scopes.length === 0) create.error(`error: give at least one --scope: ${accepted}`)
    await createKey(name, scopes, options, loadConfig)
  })
}

const MEANING: Record<Scope, string> = {
  'users:read': 'find and read users',
  'users:write': 'make, change and delete users; includes users:read',
  'credentials:write': 'set passwords, emails and links of accounts, and reset second factors',
  'sessions:read': 'list the sessions of a user',
  'sessions:write': 'end sessions',
  'audit:read': 'read what happened to accounts, keys and providers',
}

const HELP = `
Scopes:
${Object.entries(MEANING)
  .map(([scope, meaning]) => `  ${scope.padEnd(19)}${meaning}`)
  .join('\n')}

The key is good for a year unless --expires says otherwise. It is stored as a hash, and
cannot be shown again: put it where your backend keeps its secrets.`

const createKey = (
  name: string,
  scopes: Scope[],
  { expires = parseLifetime(DEFAULT_LIFETIME), json }: CreateKeyOptions,
  loadConfig: CommandContext['loadConfig'],
): Promise<void> =>
  withCore(loadConfig(), async ({ apiKeys, clock }, logEvent) => {
    const lifetimeMs = expires === NEVER ? undefined : expires
    const { key, text } = await apiKeys.create({ name, scopes, lifetimeMs })
    logEvent('api-keys create', 'api_key_create', { apiKeyId: key.id })
    if (json) return printJson({ ...apiKeyToJson(key, clock.now()), key: text })
    const end = key.expiresAtMs === undefined ? 'it does not expire' : `good until ${toTimestamp(key.expiresAtMs)}`
    printNotice(`the key ${key.name} (${key.scopes.join(', ')}), ${end}; it is shown this once`)
    return print(`${text}\n`)
  })

const parseLifetime = (text: string): number | typeof NEVER => {
  if (text === NEVER) return NEVER
  const ms = parseDuration(text)
  if (ms !== undefined && ms >= 1 && ms <= MAX_DATE_MS) return ms
  throw new InvalidArgumentError('It must be a duration such as 720h, or never.')
}
