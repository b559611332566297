import type { Clients, Grant } from '../clients/clients.ts'
import { toTimestamp } from '../lib/time.ts'
import { type Call, command, group, option } from './command/command.ts'
import { type Opened, requireUser } from './command/with-core.ts'
import type { Column } from './terminal/table.ts'
import { countText, toMinute } from './terminal/text.ts'

const WHOSE = {
  user: option.text('--user <user>', 'those of this user: an id, an email or a username'),
  client: option.text('--client <client>', 'those of this client: an id, or the name of one that you made'),
}

interface Whose {
  user: string | undefined
  client: string | undefined
}

const requireOne = ({ options: { user, client }, usageError }: Call<Whose>): void => {
  if (user === undefined && client === undefined) usageError('give --user, --client or both')
}

const toJson = (grant: Grant) => ({
  id: grant.id,
  user_id: grant.userId,
  client_id: grant.clientId,
  session_id: grant.sessionId ?? null,
  scopes: grant.scopes,
  resource: grant.resource ?? null,
  created_at: toTimestamp(grant.createdAtMs),
  last_used_at: toTimestamp(grant.lastUsedAtMs),
  expires_at: toTimestamp(grant.expiresAtMs),
})

const COLUMNS: Column<Grant>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'client', value: ({ clientId }) => clientId },
  { title: 'user', value: ({ userId }) => userId },
  { title: 'scopes', value: ({ scopes }) => scopes.join(' '), minWidth: 10 },
  { title: 'last used (UTC)', value: ({ lastUsedAtMs }) => toMinute(lastUsedAtMs) },
  { title: 'created (UTC)', value: ({ createdAtMs }) => toMinute(createdAtMs), optional: true },
]

/** Finds whose grants are meant, and what there is of the OAuth server. */
const withGrants = <Result>(call: Call<Whose>, work: (about: About) => Promise<Result>): Promise<Result> => {
  requireOne(call)
  return call.withCore(async ({ core, logEvent }) => {
    const { registry, grants, disconnect } = await core.loadClients()
    const { user, client } = call.options
    const userId = user === undefined ? undefined : (await requireUser(core, user)).id
    const clientId = client === undefined ? undefined : (await registry.requireNamed(client)).id
    return work({ grants, disconnect, userId, clientId, logEvent })
  })
}

interface About extends Pick<Clients, 'disconnect' | 'grants'> {
  userId: string | undefined
  clientId: string | undefined
  logEvent: Opened['logEvent']
}

const list = command({
  text: 'list the access that clients have to accounts, the last used first',
  examples: ['svc grants list --user ada@example.com', 'svc grants list --client notes --json'],
  options: WHOSE,
  run: (call) =>
    withGrants(call, async ({ grants, userId, clientId }) => {
      const found = userId === undefined ? await grants.listOfClient(clientId ?? '') : await grants.list(userId)
      const meant = found.filter((grant) => clientId === undefined || grant.clientId === clientId)
      await call.list([meant], { columns: COLUMNS, toJson, empty: 'there are no grants' })
    }),
})

const revoke = command({
  text: 'end all grants of a user, of a client, or of both: the user is asked again',
  examples: ['svc grants revoke --user ada@example.com', 'svc grants revoke --user ada --client notes'],
  options: WHOSE,
  run: (call) =>
    withGrants(call, async ({ disconnect, userId, clientId, logEvent }) => {
      const ended = await disconnect(userId, clientId)
      logEvent('client_disconnect', { userId, clientId, count: ended })
      await call.result({ ended }, `${countText(ended, 'grant')} ended.`)
    }),
})

export const grants = group({
  text: 'list and end the access of clients to accounts',
  examples: ['svc grants list --user ada@example.com', 'svc grants revoke --client notes'],
  commands: { list, revoke },
})
