import type { Config } from '../config/config.ts'
import { AppError } from '../lib/errors.ts'
import { toTimestamp } from '../lib/time.ts'
import type { Disconnection, LinkedIdentity } from '../oauth/oauth.ts'
import type { User } from '../accounts/accounts.ts'
import { command, group, option } from './command/command.ts'
import { type Core, requireUser } from './command/with-core.ts'
import { printNotice } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'
import { countText, toMinute } from './terminal/text.ts'
import { providerText } from './user-output.ts'

const list = command({
  args: '<user>',
  text: 'list the providers that a user can sign in with, oldest first',
  examples: ['svc identities list ada@example.com', 'svc identities list ada --json'],
  run: (call, name: string) =>
    call.withCore(async ({ core }) => {
      const user = await requireUser(core, name)
      const empty = `no provider is connected to ${user.email}`
      const listing = { columns: columnsFor(core), toJson: identityToJson, empty }
      await call.list([await core.oauth.listIdentities(user.id, true)], listing)
    }),
})

const columnsFor = ({ oauth }: Core): Column<LinkedIdentity>[] => {
  const isConfigured = (provider: string): boolean => oauth.providers.some(({ name }) => name === provider)
  return [
    // This column is never cut, because `unlink` takes the whole name.
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

const identityToJson = (identity: Omit<LinkedIdentity, 'removable'>) => ({
  id: identity.id,
  user_id: identity.userId,
  provider: identity.provider,
  issuer: identity.issuer,
  subject: identity.subject,
  email: identity.email ?? null,
  created_at: toTimestamp(identity.createdAtMs),
})

const unlink = command({
  args: '<user> [provider]',
  text: 'disconnect one provider or all, and end all sessions',
  examples: ['svc identities unlink ada google', 'svc identities unlink ada@example.com --all'],
  options: { all: option.flag('--all', 'disconnect all providers') },
  run(call, name: string, provider: string | undefined) {
    if ((provider === undefined) === !call.options.all) call.usageError('name one provider, or give --all')
    return call.withCore(async ({ core, config, logEvent }) => {
      const user = await requireUser(core, name)
      const disconnection = await disconnect(core, user, provider)
      for (const { provider: method } of disconnection.disconnected)
        logEvent('provider_disconnect', { userId: user.id, method })
      await call.result(disconnectionToJson(user, disconnection), resultText(user, disconnection))
      if (!disconnection.canSignIn) printNotice(lockedOutText(user, config))
    })
  },
})

/** Throws `not_found` with the providers that are connected when `provider` is not one of them. */
const disconnect = async ({ oauth }: Core, user: User, provider: string | undefined): Promise<Disconnection> => {
  const disconnection = await oauth.disconnect(user.id, provider)
  if (provider === undefined || disconnection.disconnected.length > 0) return disconnection
  const connected = (await oauth.listIdentities(user.id, true)).map((identity) => identity.provider).join(', ')
  throw new AppError(
    'not_found',
    `${JSON.stringify(provider)} is not connected to ${user.email}; connected providers: ${connected || 'none'}`,
  )
}

const resultText = ({ email }: User, { disconnected, endedSessions }: Disconnection): string =>
  disconnected.length === 0
    ? `No provider is connected to ${email}; nothing was changed.`
    : `Disconnected from ${email}: ${disconnected.map(providerText).join(', ')}. ${countText(endedSessions, 'session')} ended.`

const lockedOutText = ({ email, username }: User, { passwords }: Config): string =>
  `${email} has no way to sign in now: ${
    passwords
      ? `set a password with svc users set-password ${username}`
      : `svc users reset-link ${username} prints a link by which they connect a provider`
  }`

const disconnectionToJson = (user: User, { disconnected, endedSessions, canSignIn }: Disconnection) => ({
  user_id: user.id,
  disconnected: disconnected.map(identityToJson),
  ended: endedSessions,
  can_sign_in: canSignIn,
})

export const identities = group({
  text: 'list and disconnect the providers of a user',
  examples: ['svc identities list ada@example.com', 'svc identities unlink ada google'],
  notes: 'USER is an id, an email or a username; PROVIDER is a name as in SVC_OAUTH_PROVIDERS.',
  commands: { list, unlink },
})
