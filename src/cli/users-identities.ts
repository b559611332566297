import type { Command } from 'commander'
import { AppError } from '../lib/errors.ts'
import { toTimestamp } from '../lib/time.ts'
import type { CommandContext } from './command-context.ts'
import { addCommand, type JsonOption, withJson } from './help.ts'
import { note, print, printJson, printList, toMinute } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'
import { type Core, requireUser, type User, withCore } from './with-core.ts'

type Identity = Awaited<ReturnType<Core['oauth']['list']>>[number]
type Disconnection = Awaited<ReturnType<Core['oauth']['disconnect']>>

interface UnlinkOptions extends JsonOption {
  all?: boolean
}

/** `svc identities`: the providers by which a user can sign in. */
export const addIdentities = (program: Command, context: CommandContext): void => {
  const identities = addCommand(program, 'identities', 'list and disconnect the providers of a user', [
    'svc identities list ada@example.com',
    'svc identities unlink ada google',
  ]).addHelpText('after', '\nA USER is named by id, email or username; a PROVIDER as in SVC_OAUTH_PROVIDERS.')
  addList(identities, context)
  addUnlink(identities, context)
}

const addList = (identities: Command, { loadConfig }: CommandContext): void => {
  const list = addCommand(identities, 'list <user>', 'list the providers that a user can sign in by, oldest first', [
    'svc identities list ada@example.com',
    'svc identities list ada --json',
  ])
  withJson(list).action((name: string, { json }: JsonOption) =>
    withCore(loadConfig(), async (core) => {
      const user = await requireUser(core, name)
      const empty = `nothing is connected to ${user.email}`
      const listing = { columns: columnsFor(core), toJson: identityToJson, empty }
      await printList([await core.oauth.list(user.id, true)], listing, json)
    }),
  )
}

const addUnlink = (identities: Command, { loadConfig }: CommandContext): void => {
  const unlink = addCommand(
    identities,
    'unlink <user> [provider]',
    'disconnect a provider, or all, and end every session',
    ['svc identities unlink ada google', 'svc identities unlink ada@example.com --all'],
  ).option('--all', 'disconnect all that are connected')
  withJson(unlink).action(async (name: string, provider: string | undefined, { all, json }: UnlinkOptions) => {
    if ((provider === undefined) === !all) unlink.error('error: name one provider, or give --all')
    await withCore(loadConfig(), async (core, record) => {
      const user = await requireUser(core, name)
      const disconnection = await disconnect(core, user, provider)
      for (const { provider: method } of disconnection.disconnected)
        record('identities unlink', 'provider_disconnect', { userId: user.id, method })
      await (json ? printJson(disconnectionToJson(user, disconnection)) : print(`${told(user, disconnection)}\n`))
      if (!disconnection.canSignIn) note(lockedOut(user))
    })
  })
}

/** `not_found` names the provider, and what is connected in its place. */
const disconnect = async ({ oauth }: Core, user: User, provider: string | undefined): Promise<Disconnection> => {
  const disconnection = await oauth.disconnect(user.id, provider)
  if (provider === undefined || disconnection.disconnected.length > 0) return disconnection
  const connected = namesOf(await oauth.list(user.id, true))
  throw new AppError(
    'not_found',
    `${JSON.stringify(provider)} is not connected to ${user.email}: ${connected ? `connected is ${connected}` : 'nothing is'}`,
  )
}

const namesOf = (identities: { provider: string }[]): string => identities.map(({ provider }) => provider).join(', ')

const told = ({ email }: User, { disconnected, endedSessions }: Disconnection): string => {
  if (disconnected.length === 0) return `Nothing is connected to ${email}, and nothing was changed.`
  const sessions = endedSessions === 1 ? '1 session' : `${endedSessions} sessions`
  return `Disconnected from ${email}: ${disconnected.map(labelOf).join(', ')}. ${sessions} ended.`
}

const labelOf = ({ provider, email }: { provider: string; email: string | undefined }): string =>
  email === undefined ? provider : `${provider} (${email})`

const lockedOut = ({ email, username }: User): string =>
  `${email} has no way to sign in now: svc users set-password ${username} gives one`

const columnsFor = ({ oauth }: Core): Column<Identity>[] => {
  const isConfigured = (provider: string): boolean => oauth.providers.some(({ name }) => name === provider)
  return [
    // Never cut: it is what `unlink` takes.
    { title: 'provider', value: ({ provider }) => provider },
    { title: 'email there', value: ({ email }) => email ?? '(none)', least: 16 },
    { title: 'connected (UTC)', value: ({ createdAtMs }) => toMinute(createdAtMs) },
    {
      title: 'configured',
      value: ({ provider }) => (isConfigured(provider) ? 'yes' : 'no'),
      tone: ({ provider }) => (isConfigured(provider) ? undefined : 'yellow'),
      optional: true,
    },
    { title: 'issuer', value: ({ issuer }) => issuer, least: 12, optional: true },
    { title: 'subject', value: ({ subject }) => subject, least: 8, optional: true },
  ]
}

const identityToJson = (identity: Omit<Identity, 'removable'>) => ({
  id: identity.id,
  user_id: identity.userId,
  provider: identity.provider,
  issuer: identity.issuer,
  subject: identity.subject,
  email: identity.email ?? null,
  created_at: toTimestamp(identity.createdAtMs),
})

const disconnectionToJson = (user: User, { disconnected, endedSessions, canSignIn }: Disconnection) => ({
  user_id: user.id,
  disconnected: disconnected.map(identityToJson),
  ended: endedSessions,
  can_sign_in: canSignIn,
})
