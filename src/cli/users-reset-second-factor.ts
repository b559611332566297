import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import type { RemovedFactors, User } from '../accounts/accounts.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { passkeyNamesOf } from './passkey-names.ts'
import { print, printJson, printNotice } from './terminal/output.ts'
import { safeText } from './terminal/safe-text.ts'
import { passkeysText, userToJson } from './user-output.ts'
import { type Core, requireUser, withCore } from './with-core.ts'

interface ResetOptions extends JsonOption {
  passkeys?: boolean
}

const HELP = `
Be sure who asks: the password of the account, or its mailbox, opens it afterwards. svc mails the user what was done.`

/** `svc users reset-second-factor`: for a user who has lost the phone and the recovery codes. */
export const addUsersResetSecondFactor = (users: Command, { loadConfig }: CommandContext): void => {
  const reset = addCommand(
    users,
    'reset-second-factor <user>',
    'take one-time codes and recovery codes away, and end all sessions',
    ['svc users reset-second-factor ada', 'svc users reset-second-factor ada@example.com --passkeys'],
  )
    .addHelpText('after', HELP)
    .option('--passkeys', 'remove all passkeys too')
  withJson(reset).action((name: string, { passkeys = false, json }: ResetOptions) => {
    const config = loadConfig()
    return withCore(config, async (core, logEvent) => {
      const user = await requireUser(core, name)
      const removed = await core.users.resetSecondFactors(user.id, { passkeys })
      logEvent('users reset-second-factor', 'second_factor_reset', { userId: user.id })
      const left = await passkeyNamesOf(core, user.id)
      await (json ? printJson(resetToJson(user, removed, left)) : print(`${resultText(user, removed)}\n`))
      if (left.length > 0) printNotice(stayingText(user, left))
      if (!(await canSignIn(core, user, config))) printNotice(lockedOutText(user))
    })
  })
}

const removedList = ({ codes, recoveryCodes, passkeys }: RemovedFactors): string[] => [
  ...(codes ? ['one-time codes'] : []),
  ...(recoveryCodes > 0 ? [recoveryCodes === 1 ? '1 recovery code' : `${recoveryCodes} recovery codes`] : []),
  ...(passkeys.length > 0 ? [passkeysText(passkeys.map(safeText))] : []),
]

const resultText = ({ email }: User, removed: RemovedFactors): string => {
  const sessions = removed.sessions === 1 ? '1 session' : `${removed.sessions} sessions`
  const list = removedList(removed)
  const what = list.length > 0 ? `Removed from ${email}: ${list.join(', ')}.` : `${email} had no second factor.`
  return `${what} ${sessions} ended.`
}

const stayingText = ({ email }: User, left: string[]): string =>
  `${passkeysText(left)} of ${email} ${left.length === 1 ? 'stays; --passkeys removes it' : 'stay; --passkeys removes them'}`

const resetToJson = (user: User, { codes, recoveryCodes, passkeys, sessions }: RemovedFactors, left: string[]) => ({
  ...userToJson(user),
  removed: { second_factors: codes ? ['totp'] : [], recovery_codes: recoveryCodes, passkeys: passkeys.map(safeText) },
  passkeys: left,
  ended: sessions,
})

const canSignIn = async (
  { users, oauth, secondFactors }: Core,
  { id }: User,
  { oauthProviders }: Config,
): Promise<boolean> => {
  if ((await users.hasPassword(id)) || (await secondFactors.find(id)).passkeys > 0) return true
  const connected = await oauth.listIdentities(id, false)
  return connected.some(({ provider }) => oauthProviders.some(({ name }) => name === provider))
}

const lockedOutText = ({ email, username }: User): string =>
  `${email} has no way to sign in now: svc users reset-link ${username} prints a link by which they get one`
