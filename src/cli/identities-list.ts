import type { Command } from 'commander'
import { toTimestamp } from '../lib/time.ts'
import type { LinkedIdentity } from '../oauth/oauth.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { printList, toMinute } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'
import { type Core, requireUser, withCore } from './with-core.ts'

/** `svc identities list` */
export const addIdentitiesList = (identities: Command, { loadConfig }: CommandContext): void => {
  const list = addCommand(identities, 'list <user>', 'list the providers that a user can sign in with, oldest first', [
    'svc identities list ada@example.com',
    'svc identities list ada --json',
  ])
  withJson(list).action((name: string, { json }: JsonOption) =>
    withCore(loadConfig(), async (core) => {
      const user = await requireUser(core, name)
      const empty = `no provider is connected to ${user.email}`
      const listing = { columns: columnsFor(core), toJson: identityToJson, empty }
      await printList([await core.oauth.listIdentities(user.id, true)], listing, json)
    }),
  )
}

const columnsFor = ({ oauth }: Core): Column<LinkedIdentity>[] => {
  const isConfigured = (provider: string): boolean => oauth.providers.some(({ name }) => name === provider)
  return [
    // Never cut, because `unlink` takes the whole name.
    { title: 'provider', value: ({ provider }) => provider },
    { title: 'email there', value: ({ email }) => email ?? '(none)', minWidth: 16 },
    { title: 'connected (UTC)', value: ({ createdAtMs }) => toMinute(createdAtMs) },
    {
      title: 'configured',
      value: ({ provider }) => (isConfigured(provider) ? 'yes' : 'no'),
      tone: ({ provider }) => (isConfigured(provider) ? undefined : 'yellow'),
      optional: true,
    },
    { title: 'issuer', value: ({ issuer }) => issuer, minWidth: 12, optional: true },
    { title: 'subject', value: ({ subject }) => subject, minWidth: 8, optional: true },
  ]
}

export const identityToJson = (identity: Omit<LinkedIdentity, 'removable'>) => ({
  id: identity.id,
  user_id: identity.userId,
  provider: identity.provider,
  issuer: identity.issuer,
  subject: identity.subject,
  email: identity.email ?? null,
  created_at: toTimestamp(identity.createdAtMs),
})
