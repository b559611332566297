import { t } from '../../languages/texts.ts'
import { MAX_PASSKEYS } from '../../passkeys/problems.ts'

/** The script says why svc refused a passkey by the reason of the error, whose own message is English. */
const REFUSALS: Readonly<Record<string, () => string>> = {
  passkey_challenge: () => t('error.message.passkey_attempt'),
  passkey_unreadable: () => t('problem.passkey_unreadable'),
  passkey_unknown: () => t('error.message.passkey_unknown'),
  passkey_wrong: () => t('error.message.passkey_unverified'),
  passkey_unusable: () => t('error.message.passkey_unusable'),
  passkey_exists: () => t('error.message.passkey_exists'),
  too_many_passkeys: () => t.plural('error.message.too_many_passkeys', MAX_PASSKEYS),
  disabled: () => t('error.message.no_entry'),
  logged_out: () => t('error.message.logged_out'),
  code_missing: () => t('problem.code_missing'),
  code_wrong: () => t('problem.code_wrong'),
  recovery_code_wrong: () => t('problem.recovery_code_wrong'),
}

/** Tells whether the script has a text for the reason of an error. */
export const isRefusal = (reason: string | undefined): reason is string =>
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
  tooMany: t('passkeys.rate_limited'),
  network: t('passkeys.network'),
  unavailable: t('passkeys.unavailable'),
  failed: t('passkeys.failed'),
  refused: Object.fromEntries(Object.entries(REFUSALS).map(([reason, text]) => [reason, text()])),
})
