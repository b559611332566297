import type { MessageOf, Notice } from '../message.ts'
import { type NoticeWords, type ServiceFacts, titles } from './texts.ts'

const passwordWords = ({ how, by }: MessageOf<'password_changed'>, app: string): NoticeWords => {
  const ended =
    how === 'reset' || by === 'operator' ? 'Every session was logged out.' : 'Every other session was logged out.'
  if (how === 'set')
    return {
      ...titles(app, (of) => `Your ${of}account has a password now`),
      what: [`Your ${app} account had no password, and now it has one. ${ended}`],
    }
  return {
    ...titles(app, (of) => `Your ${of}password was ${how}`),
    what: [
      how === 'changed'
        ? `The password of your ${app} account was changed. ${ended}`
        : `A new password was chosen for your ${app} account, with a link for those who forgot theirs. ${ended}`,
    ],
  }
}

const limitedWords = ({ logins }: MessageOf<'login_limited'>, { app }: ServiceFacts): NoticeWords => {
  const tried = `Someone has tried many times to log in to your ${app} account`
  const what = {
    in_network: `${tried}, and failed each time. From there, no more tries are taken for a while, except in browsers in which you have logged in before.`,
    anywhere: `${tried}, and failed each time. For a while, no more tries are taken from anywhere, except in browsers in which you have logged in before. The device and the address below are those of the last try.`,
    in_known_browser: `${tried} in a browser in which you have logged in before, and failed each time. In that browser, no more tries are taken for a while.`,
  }
  return { ...titles(app, (of) => `Too many tries to log in to your ${of}account`), what: [what[logins]] }
}

const list = new Intl.ListFormat('en-GB')

const howManyLeft = (left: number): string => {
  if (left === 0) return 'None is left: make new ones on your account page.'
  return left === 1 ? 'One is left.' : `${left} are left.`
}

/** Names the parts that an operator removed, in the order of the sentence. */
const removedWords = (codes: boolean, passkeys: number): string[] => [
  ...(codes ? ['the authenticator app'] : []),
  'all recovery codes',
  ...(passkeys > 1 ? [`all ${passkeys} passkeys`] : []),
  ...(passkeys === 1 ? ['the passkey'] : []),
]

type NoticeTexts = {
  [Kind in Notice['kind']]: (message: MessageOf<Kind>, service: ServiceFacts) => NoticeWords
}

export const noticeTexts: NoticeTexts = {
  email_changed: ({ oldEmail, newEmail }, { app }) => ({
    ...titles(app, (of) => `Your ${of}email address was changed`),
    what: [`The email address of your ${app} account is ${newEmail} now. It was ${oldEmail} before.`],
  }),
  username_changed: ({ oldUsername, newUsername }, { app }) => ({
    ...titles(app, (of) => `Your ${of}username was changed`),
    what: [`The username of your ${app} account is ${newUsername} now. It was ${oldUsername} before.`],
  }),
  name_changed: (_message, { app }) => ({
    ...titles(app, (of) => `The name of your ${of}account was changed`),
    what: [`The name of your ${app} account was changed. You see it on your account page.`],
  }),
  password_changed: (message, { app }) => passwordWords(message, app),
  provider_connected: ({ provider }, { app }) => ({
    ...titles(app, (of) => `${provider} was connected to your ${of}account`),
    what: [`${provider} was connected to your ${app} account. It logs you in from now on.`],
  }),
  provider_removed: ({ provider }, { app }) => ({
    ...titles(app, (of) => `${provider} was disconnected from your ${of}account`),
    what: [`${provider} was disconnected from your ${app} account. It no longer logs you in.`],
  }),
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
  account_deleted: (_message, { app }) => ({
    ...titles(app, (of) => `Your ${of}account was deleted`),
    what: [`Your ${app} account was deleted. This can’t be undone.`],
  }),
  account_taken_over: ({ email, by }, { app, passwords }) => ({
    ...titles(app, (of) => `Your ${of}account is yours alone now`),
    what: [
      `Someone made an account at ${app} with ${email}, and never showed that this address is theirs. ${by === 'operator' ? `The people who run ${app} gave the account to you.` : 'You have shown it, and so the account is yours.'}`,
      `Everything that got into it before has ended: its ${passwords ? 'password, sessions and connections' : 'sessions and connections'}. What is in it stays, and is yours.`,
    ],
  }),
  login_limited: limitedWords,
  new_browser: (_message, { app }) => ({
    ...titles(app, (of) => `New login to your ${of}account`),
    what: [`Someone logged in to your ${app} account, in a browser that is new to us.`],
  }),
}
