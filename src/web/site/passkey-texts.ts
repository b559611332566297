import { t, type TextKey } from '../../languages/texts.ts'
import { MAX_PASSKEYS } from '../../passkeys/problems.ts'

/** The script says why svc refused a passkey by the reason of the error, whose own message is English. */
const REFUSALS = {
  passkey_challenge: 'error.message.passkey_attempt',
  passkey_unreadable: 'problem.passkey_unreadable',
  passkey_unknown: 'error.message.passkey_unknown',
  passkey_wrong: 'error.message.passkey_unverified',
  passkey_unusable: 'error.message.passkey_unusable',
  passkey_exists: 'error.message.passkey_exists',
  too_many_passkeys: 'error.message.too_many_passkeys_other',
  disabled: 'error.message.no_entry',
  logged_out: 'error.message.logged_out',
  code_missing: 'problem.code_missing',
  code_wrong: 'problem.code_wrong',
  recovery_code_wrong: 'problem.recovery_code_wrong',
} as const satisfies Record<string, TextKey>

/** Tells whether the script has a text for the reason of an error. */
export const isRefusal = (reason: string | undefined): reason is keyof typeof REFUSALS =>
  reason !== undefined && Object.hasOwn(REFUSALS, reason)

/** The script of passkeys may show these texts. `passkeys.js` uses the names of the members. */
export const passkeyScriptTexts = () => ({
  waiting: t('passkeys.waiting'),
  notUsed: t('passkeys.not_used'),
  notAdded: t('passkeys.not_added'),
  timedOut: t('passkeys.timed_out'),
  alreadyAdded: t('passkeys.already_added'),
  noAuthenticator: t('passkeys.no_authenticator'),
  otherAddress: t('passkeys.other_address'),
  unsupported: t('passkeys.unsupported'),
  unknown: t('passkeys.unknown'),
  outdated: t('passkeys.outdated'),
  linkEnded: t('passkeys.link_ended'),
  tooMany: t('passkeys.too_many'),
  network: t('passkeys.network'),
  unavailable: t('passkeys.unavailable'),
  failed: t('passkeys.failed'),
  refused: Object.fromEntries(
    Object.entries(REFUSALS).map(([reason, key]) => [
      reason,
      key === 'error.message.too_many_passkeys_other'
        ? t.plural('error.message.too_many_passkeys', MAX_PASSKEYS)
        : t(key),
    ]),
  ),
})

export const passkeyNameProblem = 'Use 1 to 64 characters, in one line.'

export const passkeyTexts = {
  passkeys: 'Passkeys',
  add: 'Add a passkey',
  addAndLogIn: 'Add a passkey and log in',
  what: [
    'A passkey logs you in, and there is nothing to remember or to type.',
    'It is kept on your phone, your computer or a security key, and often synced between your devices.',
    'To use it, you unlock it as you unlock the device: with a fingerprint, your face or a PIN.',
    'What you unlock it with stays on the device: this site never gets to see it.',
    'A passkey works on this site only, so nobody can trick you into giving it to another.',
  ],
  offer: 'Log in without your password from now on?',
  about: 'Log in with your fingerprint, your face or a PIN.',
  whatOpen: 'What is a passkey?',
  added: 'Added',
  lastUsed: 'last used',
  neverUsed: 'not used yet',
  synced: 'Synced between your devices',
  bound: 'Kept on one device',
  rename: 'Rename',
  name: 'Name',
  saveName: 'Save name',
  remove: 'Remove',
  removeOf: (name: string): string => `Remove the passkey ${name}`,
  /** This comes before a name, if no heading says what it is of. */
  passkey: 'Passkey',
  onlyWayIn: 'Your only way to log in, so it stays.',
  confirmFirst: 'To add, rename or remove a passkey, first confirm that it’s you.',
}
