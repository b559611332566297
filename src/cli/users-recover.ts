import type { Config } from '../config/config.ts'
import { AppError } from '../lib/errors.ts'
import { toTimestamp } from '../lib/time.ts'
import type { RemovedFactors, User } from '../accounts/accounts.ts'
import { command, option } from './command/command.ts'
import { type Core, requireUser } from './command/with-core.ts'
import { print, printJson, printNotice } from './terminal/output.ts'
import { readPassword } from './terminal/prompt.ts'
import { countText, safeText } from './terminal/text.ts'
import { passkeyNamesOf, passkeysText, userToJson } from './user-output.ts'

/** Refuses `--mail` while mail is off, before a command changes anything. */
export const requireMail = ({ mail }: Core): void => {
  if (mail.isOn) return
  throw new AppError('invalid_request', 'mail is off: set SVC_SMTP_URL, or leave out --mail to have the link printed')
}

/** It helps a user who forgot the password, and cannot get mail or is on the phone. */
export const resetLink = command({
  args: '<user>',
  text: 'make a link with which a user sets a new password',
  examples: ['svc users reset-link ada', 'svc users reset-link ada@example.com --mail'],
  notes: `\
The link works once, and verifies the address of the account like one that was mailed:
give it to the owner of the address and to nobody else. With --mail, svc mails it.`,
  options: { isMailed: option.flag('--mail', 'mail the link to the user, and do not print it') },
  run: ({ options: { isMailed = false }, json, withCore }, name: string) =>
    withCore(async ({ core, logEvent }) => {
      const user = await requireUser(core, name)
      if (isMailed) requireMail(core)
      const { url, expiresAtMs } = await core.links.reset.createByOperator(user.id, { isMailed })
      logEvent('password_reset_request', { userId: user.id })
      if (user.emailVerifiedAtMs === undefined)
        printNotice(
          `${user.email} is not verified: the user of the link takes the account over, ` +
            'and its providers end, and its roles unless an operator made the account',
        )
      const expiresAt = toTimestamp(expiresAtMs)
      if (json) return printJson({ ...userToJson(user), ...(!isMailed && { url }), expires_at: expiresAt })
      if (isMailed) return print(`Mailed a link for a new password to ${user.email}. It is good until ${expiresAt}.\n`)
      printNotice(`a link for a new password of ${user.email}, good until ${expiresAt}`)
      return print(`${url}\n`)
    }),
})

/** It lets a user in who is on the phone with an operator, or shows an operator what the user sees. */
export const signInLink = command({
  args: '<user>',
  text: 'make a link that logs in to an account',
  examples: ['svc users sign-in-link ada', 'svc users sign-in-link ada@example.com --json'],
  notes: `\
The link works once, for ten minutes, in any browser, and signs in anyone who has it. svc
records that it was made, and tells the user by mail. It works while SVC_EMAIL_SIGN_IN is
off too. A second factor is still asked for. An account with a passkey is entered only in
browsers that it knows, unless SVC_EMAIL_SIGN_IN_WITH_PASSKEY=always.`,
  run: ({ json, withCore }, name: string) =>
    withCore(async ({ core, logEvent }) => {
      const user = await requireUser(core, name)
      const { url, expiresAtMs } = await core.links.signIn.createByOperator(user.id)
      logEvent('login_link_create', { userId: user.id })
      const expiresAt = toTimestamp(expiresAtMs)
      if (await core.links.signIn.needsPasskey(user.id, undefined))
        printNotice(`${user.email} has a passkey: the link works only in a browser that the account knows`)
      if (json) return printJson({ ...userToJson(user), url, expires_at: expiresAt })
      printNotice(`a link that logs in as ${user.email}, good once until ${expiresAt}`)
      return print(`${url}\n`)
    }),
})

/** It gives a stolen account back to its user: the attacker's sessions and providers end. */
export const setPassword = command({
  args: '<user>',
  text: 'set a password, end all sessions and disconnect all providers',
  examples: [
    'svc users set-password ada',
    'svc users set-password ada@example.com < password.txt',
    'svc users set-password ada --keep-providers',
  ],
  notes: `\
All providers of the account are disconnected too: an attacker could still sign in with
one that they had connected. Passkeys stay, and are named.
On a terminal, svc asks for the password. Otherwise it reads one line from standard input.`,
  options: { keepProviders: option.flag('--keep-providers', 'keep the providers connected') },
  run: ({ options, json, withCore }, name: string) =>
    withCore(async ({ core, config, logEvent }) => {
      const { id, username } = await requireUser(core, name)
      if (!config.passwords) throw noPasswords(username)
      const disconnected = await core.users.setPassword(id, await readPassword(), options)
      logEvent('password_change', { userId: id })
      for (const method of disconnected) logEvent('provider_disconnect', { userId: id, method })
      const user = await requireUser(core, id)
      const connected = (await core.oauth.listIdentities(id, true)).map(({ provider }) => provider)
      const passkeys = await passkeyNamesOf(core, id)
      if (json) {
        const providers = { disconnected_providers: disconnected, connected_providers: connected }
        return printJson({ ...userToJson(user), ...providers, passkeys })
      }
      const providers = providersText(disconnected, connected)
      await print(`${user.email} has a new password, and all sessions have ended. ${providers}\n`)
      if (passkeys.length > 0) printNotice(passkeysNotice(passkeys, user))
    }),
})

const noPasswords = (username: string): AppError =>
  new AppError(
    'conflict',
    `SVC_PASSWORDS=off: nobody has a password here. svc users reset-link ${username} prints a link by which they connect ` +
      'a provider. To end all sessions, use svc sessions revoke.',
  )

const providersText = (disconnected: string[], connected: string[]): string => {
  if (disconnected.length > 0) return `Disconnected: ${disconnected.join(', ')}.`
  return connected.length > 0 ? `Still connected: ${connected.join(', ')}.` : 'No provider was connected.'
}

const passkeysNotice = (passkeys: string[], { username }: User): string =>
  `${passkeysText(passkeys)} of the account still sign${passkeys.length === 1 ? 's' : ''} in: ` +
  `svc users reset-second-factor ${username} --passkeys removes what an attacker may have added`

/** It helps a user who has lost the phone and the recovery codes. */
export const resetSecondFactor = command({
  args: '<user>',
  text: 'take one-time codes and recovery codes away, and end all sessions',
  examples: ['svc users reset-second-factor ada', 'svc users reset-second-factor ada@example.com --passkeys'],
  notes:
    'Be sure who asks: the password of the account, or its mailbox, opens it afterwards. svc mails the user what was done.',
  options: { passkeys: option.flag('--passkeys', 'remove all passkeys too') },
  run: ({ options: { passkeys = false }, withCore, result }, name: string) =>
    withCore(async ({ core, config, logEvent }) => {
      const user = await requireUser(core, name)
      const removed = await core.users.resetSecondFactors(user.id, { passkeys })
      logEvent('second_factor_reset', { userId: user.id })
      const left = await passkeyNamesOf(core, user.id)
      await result(resetToJson(user, removed, left), removedText(user, removed))
      if (left.length > 0) printNotice(stayingText(user, left))
      if (!(await canSignIn(core, user, config)))
        printNotice(
          `${user.email} has no way to sign in now: svc users reset-link ${user.username} prints a link by which they get one`,
        )
    }),
})

const resetToJson = (user: User, { codes, recoveryCodes, passkeys, sessions }: RemovedFactors, left: string[]) => ({
  ...userToJson(user),
  removed: { second_factors: codes ? ['totp'] : [], recovery_codes: recoveryCodes, passkeys: passkeys.map(safeText) },
  passkeys: left,
  ended: sessions,
})

const removedText = ({ email }: User, { codes, recoveryCodes, passkeys, sessions }: RemovedFactors): string => {
  const removed = [
    ...(codes ? ['one-time codes'] : []),
    ...(recoveryCodes > 0 ? [countText(recoveryCodes, 'recovery code')] : []),
    ...(passkeys.length > 0 ? [passkeysText(passkeys.map(safeText))] : []),
  ].join(', ')
  const what = removed ? `Removed from ${email}: ${removed}.` : `${email} had no second factor.`
  return `${what} ${countText(sessions, 'session')} ended.`
}

const stayingText = ({ email }: User, left: string[]): string =>
  `${passkeysText(left)} of ${email} ${left.length === 1 ? 'stays; --passkeys removes it' : 'stay; --passkeys removes them'}`

const canSignIn = async (
  { users, oauth, secondFactors }: Core,
  { id }: User,
  { oauthProviders, emailSignIn }: Config,
): Promise<boolean> => {
  if (emailSignIn) return true
  if ((await users.hasPassword(id)) || (await secondFactors.find(id)).passkeys > 0) return true
  const connected = await oauth.listIdentities(id, false)
  return connected.some(({ provider }) => oauthProviders.some(({ name }) => name === provider))
}
