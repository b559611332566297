import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { AppError } from '../lib/errors.ts'
import type { Disconnection } from '../oauth/oauth.ts'
import type { User } from '../accounts/accounts.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { identityToJson } from './identities-list.ts'
import { print, printJson, printNotice } from './terminal/output.ts'
import { type Core, requireUser, withCore } from './with-core.ts'

interface UnlinkOptions extends JsonOption {
  all?: boolean
}

/** `svc identities unlink` */
export const addIdentitiesUnlink = (identities: Command, { loadConfig }: CommandContext): void => {
  const unlink = addCommand(
    identities,
    'unlink <user> [provider]',
    'disconnect one provider or all, and end all sessions',
    ['svc identities unlink ada google', 'svc identities unlink ada@example.com --all'],
  ).option('--all', 'disconnect all providers')
  withJson(unlink).action(async (name: string, provider: string | undefined, { all, json }: UnlinkOptions) => {
    if ((provider === undefined) === !all) unlink.error('error: name one provider, or give --all')
    const config = loadConfig()
    await withCore(config, async (core, logEvent) => {
      const user = await requireUser(core, name)
      const disconnection = await disconnect(core, user, provider)
      for (const { provider: method } of disconnection.disconnected)
        logEvent('identities unlink', 'provider_disconnect', { userId: user.id, method })
      await (json ? printJson(disconnectionToJson(user, disconnection)) : print(`${resultText(user, disconnection)}\n`))
      if (!disconnection.canSignIn) printNotice(lockedOutText(user, config))
    })
  })
}

/** Throws `not_found` with the providers that are connected when `provider` is not one of them. */
const disconnect = async ({ oauth }: Core, user: User, provider: string | undefined): Promise<Disconnection> => {
  const disconnection = await oauth.disconnect(user.id, provider)
  if (provider === undefined || disconnection.disconnected.length > 0) return disconnection
  const connected = namesOf(await oauth.listIdentities(user.id, true))
  throw new AppError(
    'not_found',
    `${JSON.stringify(provider)} is not connected to ${user.email}; connected providers: ${connected || 'none'}`,
  )
}

const namesOf = (identities: { provider: string }[]): string => identities.map(({ provider }) => provider).join(', ')

const resultText = ({ email }: User, { disconnected, endedSessions }: Disconnection): string => {
  if (disconnected.length === 0) return `No provider is connected to ${email}; nothing was changed.`
  const sessions = endedSessions === 1 ? '1 session' : `${endedSessions} sessions`
  return `Disconnected from ${email}: ${disconnected.map(labelOf).join(', ')}. ${sessions} ended.`
}

const labelOf = ({ provider, email }: { provider: string; email: string | undefined }): string =>
  email === undefined ? provider : `${provider} (${email})`

const lockedOutText = ({ email, username }: User, { passwords }: Pick<Config, 'passwords'>): string =>
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
