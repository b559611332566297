import type { Command } from 'commander'
import { AppError } from '../lib/errors.ts'
import type { User } from '../accounts/accounts.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { passkeyNamesOf } from './passkey-names.ts'
import { print, printJson, printNotice } from './terminal/output.ts'
import { readPassword } from './terminal/read-password.ts'
import { passkeysText, userToJson } from './user-output.ts'
import { requireUser, withCore } from './with-core.ts'

interface SetPasswordOptions extends JsonOption {
  keepProviders?: boolean
}

const HELP = `
All providers of the account are disconnected too: an attacker could still sign in with
one that they had connected. Passkeys stay, and are named.
On a terminal, svc asks for the password. Otherwise it reads one line from standard input.`

/** `svc users set-password`. It gives a stolen account back to its user: the attacker's sessions and providers go. */
export const addUsersSetPassword = (users: Command, { loadConfig }: CommandContext): void => {
  const setPassword = addCommand(
    users,
    'set-password <user>',
    'set a password, end all sessions and disconnect all providers',
    [
      'svc users set-password ada',
      'svc users set-password ada@example.com < password.txt',
      'svc users set-password ada --keep-providers',
    ],
  )
    .addHelpText('after', HELP)
    .option('--keep-providers', 'keep the providers connected')
  withJson(setPassword).action((name: string, { keepProviders, json }: SetPasswordOptions) => {
    const config = loadConfig()
    return withCore(config, async (core, logEvent) => {
      const { id, username } = await requireUser(core, name)
      if (!config.passwords) throw noPasswords(username)
      const disconnected = await core.users.setPassword(id, await readPassword(), { keepProviders })
      logEvent('users set-password', 'password_change', { userId: id })
      for (const method of disconnected) logEvent('users set-password', 'provider_disconnect', { userId: id, method })
      const user = await requireUser(core, id)
      const connected = (await core.oauth.listIdentities(id, true)).map(({ provider }) => provider)
      const passkeys = await passkeyNamesOf(core, id)
      if (json) {
        const providers = { disconnected_providers: disconnected, connected_providers: connected }
        return printJson({ ...userToJson(user), ...providers, passkeys })
      }
      await print(
        `${user.email} has a new password, and all sessions have ended. ${resultText(disconnected, connected)}\n`,
      )
      if (passkeys.length > 0) printNotice(passkeysNotice(passkeys, user))
    })
  })
}

const noPasswords = (username: string): AppError =>
  new AppError(
    'conflict',
    `SVC_PASSWORDS=off: nobody has a password here. svc users reset-link ${username} prints a link by which they connect ` +
      'a provider. To end all sessions, use svc sessions revoke.',
  )

const passkeysNotice = (passkeys: string[], { username }: User): string =>
  `${passkeysText(passkeys)} of the account still sign${passkeys.length === 1 ? 's' : ''} in: ` +
  `svc users reset-second-factor ${username} --passkeys removes what an attacker may have added`

const resultText = (disconnected: string[], connected: string[]): string => {
  if (disconnected.length > 0) return `Disconnected: ${disconnected.join(', ')}.`
  return connected.length > 0 ? `Still connected: ${connected.join(', ')}.` : 'No provider was connected.'
}
