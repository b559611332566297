import type { Client, MadeClient } from '../clients/clients.ts'
import { toTimestamp } from '../lib/time.ts'
import { printJson, printNotice, printRecord } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'
import { timestampOrNull, toMinute } from './terminal/text.ts'

export const clientToJson = (client: Client) => ({
  id: client.id,
  name: client.name,
  type: client.type,
  kind: client.kind,
  redirect_uris: client.redirectUris,
  logout_uris: client.logoutUris,
  backchannel_logout_uri: client.backchannelLogoutUri ?? null,
  scopes: client.scopes ?? null,
  resources: client.resources,
  first_party: client.firstParty,
  require_mfa: client.requireMfa,
  disabled: client.disabledAtMs !== undefined,
  created_at: toTimestamp(client.createdAtMs),
  last_used_at: timestampOrNull(client.usedAtMs),
})

const yesOrNo = (value: boolean): string => (value ? 'yes' : 'no')

const stateOf = ({ disabledAtMs }: Client): 'on' | 'disabled' => (disabledAtMs === undefined ? 'on' : 'disabled')

export const printClient = (client: Client, secret?: string): Promise<void> =>
  printRecord([
    ['id', client.id],
    ...(secret === undefined ? [] : [['secret', secret] as const]),
    ['name', client.name],
    ['type', client.type],
    ['made by', MAKERS[client.kind]],
    ['state', stateOf(client)],
    ...client.redirectUris.map((uri) => ['redirect URI', uri] as const),
    ...client.logoutUris.map((uri) => ['logout URI', uri] as const),
    ...(client.backchannelLogoutUri ? [['back-channel logout', client.backchannelLogoutUri] as const] : []),
    ['scopes', client.scopes?.join(' ') ?? 'all but roles'],
    ['resources', client.resources.join(' ') || 'all'],
    ['first-party', yesOrNo(client.firstParty)],
    ['requires two steps', yesOrNo(client.requireMfa)],
    ['created', toTimestamp(client.createdAtMs)],
    ['last used', client.usedAtMs === undefined ? 'never' : toTimestamp(client.usedAtMs)],
  ])

const MAKERS: Record<Client['kind'], string> = {
  operator: 'an operator',
  registered: 'itself (registered)',
  document: 'itself (metadata document)',
}

/** Prints a client, with a new secret: its only copy. */
export const printMade = async (
  { json }: { json: boolean },
  { client, secret }: MadeClient,
  more = {},
): Promise<void> => {
  if (json) return printJson({ ...clientToJson(client), ...(secret !== undefined && { secret }), ...more })
  if (secret !== undefined)
    printNotice('the secret is shown this once: put it where your application keeps its secrets')
  return printClient(client, secret)
}

export const CLIENT_COLUMNS: Column<Client>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'name', value: ({ name }) => name, minWidth: 10 },
  { title: 'type', value: ({ type, kind }) => (kind === 'operator' ? type : kind) },
  { title: 'state', value: stateOf, tone: (client) => (client.disabledAtMs === undefined ? 'green' : 'yellow') },
  { title: 'last used (UTC)', value: ({ usedAtMs }) => (usedAtMs === undefined ? 'never' : toMinute(usedAtMs)) },
  { title: 'created (UTC)', value: ({ createdAtMs }) => toMinute(createdAtMs), optional: true },
]
