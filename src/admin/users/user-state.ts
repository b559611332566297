import type { DirectoryUser } from '../../accounts/directory/directory.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { deviceName } from '../../web/site/device.ts'
import { ago, mark, wordList } from '../site/parts.ts'
import type { Account } from './account.ts'

type LabelOf = (provider: string) => string

/** Lists how a user can sign in: "password", "a passkey", "Google". */
export const waysIn = ({ hasPassword, passkeys, identities }: DirectoryUser, labelOf: LabelOf): string[] => [
  ...(hasPassword ? ['password'] : []),
  ...(passkeys > 0 ? [passkeys === 1 ? 'a passkey' : `${passkeys} passkeys`] : []),
  ...identities.map(({ provider }) => labelOf(provider)),
]

/** Says in a sentence whether and how the user can sign in. */
const signInState = (account: Account, labelOf: LabelOf): HtmlFragment => {
  const { user, nowMs } = account
  if (user.disabled) return html`Cannot sign in: the account is disabled.`
  if (user.invitedAtMs !== undefined)
    return html`Was invited ${ago(user.invitedAtMs, nowMs)}, and has not entered the account yet.`
  const ways = waysIn(user, labelOf)
  if (ways.length === 0) return html`Has no way to sign in. A reset link lets the user choose one.`
  return html`Can sign in by ${wordList(ways, 'or')}${user.hasCodes && html`, and is asked for a code of an app`}.`
}

const seenState = ({ user, sessions, nowMs }: Account): HtmlFragment => {
  if (user.lastSeenAtMs === undefined) return html`Has never signed in.`
  const latest = sessions.toSorted((one, other) => other.lastSeenAtMs - one.lastSeenAtMs)[0]
  const device = latest && html` in ${deviceName(latest.userAgent)}`
  return html`Last seen ${ago(user.lastSeenAtMs, nowMs)}${device}.`
}

/** Logins that a limit has refused within this time may be refused still. */
const LIMIT_MS = 3_600_000

const limitState = ({ events, nowMs }: Account): HtmlFragment | undefined => {
  const unlocked = events.findIndex(({ type }) => type === 'user.unlocked')
  const since = unlocked === -1 ? events : events.slice(0, unlocked)
  const latest = since.find(({ type }) => type === 'login.limited')
  if (!latest || nowMs - latest.atMs > LIMIT_MS) return undefined
  return html`Logins were refused ${ago(latest.atMs, nowMs)}, after too many wrong passwords.`
}

const emailState = ({ user }: Account): HtmlFragment | undefined => {
  if (user.emailVerifiedAtMs !== undefined || user.invitedAtMs !== undefined) return undefined
  return user.isSelfMade
    ? html`The email address is not verified: anybody may have made this account with it.`
    : html`The email address is not verified.`
}

/** Says in words how it is with an account, before any list. */
export const accountState = (account: Account, labelOf: LabelOf): HtmlFragment => {
  const more = [limitState(account), emailState(account)]
  return html`<p class="state">${signInState(account, labelOf)} ${seenState(account)}</p>
${more.map(
  (sentence) =>
    sentence &&
    html`<p class="state">${sentence}</p>
`,
)}`
}

/** Marks what is unusual about a user. Where no addresses are verified, that is nothing unusual. */
export const badgesOf = (user: DirectoryUser, verifiesEmails: boolean): HtmlFragment => {
  const isInvited = user.invitedAtMs !== undefined
  const isUnverified = verifiesEmails && !isInvited && user.emailVerifiedAtMs === undefined
  return html`${user.disabled && mark('Disabled', 'bad')}${isInvited && mark('Invited')}${isUnverified && mark('Not verified')}`
}
