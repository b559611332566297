import { type NoticeTexts, titles } from './notice-words.ts'

const list = new Intl.ListFormat('en-GB')

const howManyLeft = (left: number): string => {
  if (left === 0) return 'None is left: make new ones on your account page.'
  return left === 1 ? 'One is left.' : `${left} are left.`
}

/** What an operator removed, in the order of the sentence. */
const removedWords = (codes: boolean, passkeys: number): string[] => [
  ...(codes ? ['the authenticator app'] : []),
  'all recovery codes',
  ...(passkeys > 1 ? [`all ${passkeys} passkeys`] : []),
  ...(passkeys === 1 ? ['the passkey'] : []),
]

/** The words of notices about passkeys and second factors. */
export const secondFactorNotices: NoticeTexts<
  | 'passkey_added'
  | 'passkey_removed'
  | 'second_factor_set_up'
  | 'second_factor_removed'
  | 'second_factor_reset'
  | 'recovery_code_used'
  | 'recovery_codes_renewed'
  | 'wrong_codes'
> = {
  passkey_added: (_message, { app }) => ({
    ...titles(app, (of) => `A passkey was added to your ${of}account`),
    what: [`A passkey was added to your ${app} account. It logs you in from now on.`],
  }),
  passkey_removed: (_message, { app }) => ({
    ...titles(app, (of) => `A passkey was removed from your ${of}account`),
    what: [`A passkey was removed from your ${app} account. It no longer logs you in.`],
  }),
  second_factor_set_up: (_message, { app }) => ({
    ...titles(app, (of) => `Your ${of}account asks for codes now`),
    what: [
      `An authenticator app was set up for your ${app} account. From now on, logging in takes a code from it as well.`,
    ],
  }),
  second_factor_removed: (_message, { app }) => ({
    ...titles(app, (of) => `Your ${of}account no longer asks for codes`),
    what: [`The authenticator app of your ${app} account was removed. Logging in takes no code from it any more.`],
  }),
  second_factor_reset: ({ codes, passkeys }, { app }) => ({
    ...titles(app, (of) => `The second factor of your ${of}account was reset`),
    what: [
      `The people who run ${app} removed this from your account: ${list.format(removedWords(codes, passkeys))}. Every session was logged out.`,
      'You can set up a second factor again on your account page.',
    ],
  }),
  recovery_code_used: ({ left }, { app }) => ({
    ...titles(app, (of) => `A recovery code of your ${of}account was used`),
    what: [`Someone used a recovery code to get into your ${app} account. It is not good again. ${howManyLeft(left)}`],
  }),
  recovery_codes_renewed: (_message, { app }) => ({
    ...titles(app, (of) => `Your ${of}account has new recovery codes`),
    what: [`New recovery codes were made for your ${app} account. The earlier ones are no longer good.`],
  }),
  wrong_codes: (_message, { app }) => ({
    ...titles(app, (of) => `Wrong codes for your ${of}account`),
    what: [
      `Someone got as far as the code that your ${app} account asks for. Then they entered wrong codes, and got no further.`,
    ],
  }),
}
