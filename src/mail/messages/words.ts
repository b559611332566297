import type { LinkKind, Message, MessageOf, Notice, NoticeMessage } from '../message.ts'
import { t, type TextKey } from '../../languages/texts.ts'
import type { PasswordKey } from './language.ts'

/** A paragraph is one text, or two that stand one behind the other. */
export type Paragraph = TextKey | readonly [TextKey, TextKey]

/** These texts make up a message, in the order of reading. */
export interface Words {
  /** The title is subject and heading. */
  title: TextKey
  /** These paragraphs say what happened. */
  what: readonly Paragraph[]
  /** These paragraphs stand below the code of a message that has one. */
  belowCode?: readonly TextKey[]
  /** It is the button's label. */
  button?: TextKey
  /** These paragraphs say what to do, and what happens to those who ignore the message. */
  advice: readonly Paragraph[]
  /** This says how long the link is good, if its lifetime does not. */
  life?: TextKey
}

/** Messages differ by these settings. */
interface Settings {
  passwords: boolean
  clients?: boolean | undefined
}

/** Finds the form of a text for accounts with passwords, or for those without. */
type Own = ((key: PasswordKey) => TextKey) & {
  /** The text says that all devices will be logged out; where users connect applications, these end too. */
  ending: (key: PasswordKey) => Paragraph
}

const ownOf = ({ passwords, clients }: Settings): Own => {
  const own = (key: PasswordKey): TextKey => (passwords ? key : `${key}_passwordless`)
  return Object.assign(own, {
    ending: (key: PasswordKey): Paragraph => (clients ? [own(key), 'common.applications_end'] : own(key)),
  })
}

/** The text says what has ended. */
const ended = (key: TextKey, { applicationsEnded }: { applicationsEnded?: boolean }): Paragraph =>
  applicationsEnded ? [key, 'mail.applications_ended'] : key

/** A code and a link stand in one message. */
const signInWords = (kind: 'sign_in' | 'sign_in_new') =>
  ({
    title: `mail.${kind}.title`,
    what: [`mail.${kind}.what`],
    belowCode: ['mail.sign_in.only_at', 'mail.sign_in.or_link'],
    button: `mail.${kind}.button`,
    life: 'mail.sign_in.life',
  }) as const satisfies Partial<Words>

type LinkWords = { [Kind in LinkKind]: (message: MessageOf<Kind>, own: Own) => Words }

const linkWords: LinkWords = {
  reset: ({ by }, own) => ({
    title: own('mail.reset.title'),
    what: [own(by === 'operator' ? 'mail.reset.by_operator' : 'mail.reset.what')],
    button: own('mail.reset.button'),
    advice: [by === 'operator' ? 'mail.reset.unneeded' : 'mail.reset.not_me', 'mail.keep_link'],
  }),
  verify: () => ({
    title: 'mail.verify.title',
    what: ['mail.verify.what'],
    button: 'mail.verify.button',
    advice: ['mail.verify.not_me'],
  }),
  sign_in: ({ reclaims }) => ({
    ...signInWords('sign_in'),
    advice: [...(reclaims ? (['mail.sign_in.reclaims'] as const) : []), 'mail.sign_in.not_me'],
  }),
  sign_in_new: () => ({ ...signInWords('sign_in_new'), advice: ['mail.sign_in_new.not_me'] }),
  sign_in_by_passkey: () => ({
    title: 'mail.sign_in_by_passkey.title',
    what: ['mail.sign_in_by_passkey.what', 'mail.sign_in_by_passkey.how'],
    button: 'mail.sign_in.button',
    advice: ['mail.sign_in_by_passkey.not_me'],
  }),
  confirm_code: () => ({
    title: 'mail.confirm_code.title',
    what: ['mail.confirm_code.what'],
    belowCode: ['mail.confirm_code.life', 'mail.sign_in.only_at'],
    advice: ['mail.confirm_code.not_me'],
  }),
  account_exists: () => ({
    title: 'mail.account_exists.title',
    what: ['mail.account_exists.what'],
    button: 'mail.account_exists.button',
    advice: ['mail.account_exists.help', 'mail.account_exists.not_me'],
  }),
  first_factor: (_message, own) => ({
    title: 'mail.first_factor.title',
    what: ['mail.first_factor.what'],
    button: 'mail.first_factor.button',
    advice: [own('mail.first_factor.not_me')],
  }),
  new_email: () => ({
    title: 'mail.new_email.title',
    what: ['mail.new_email.what'],
    button: 'mail.new_email.button',
    advice: ['mail.new_email.not_me'],
  }),
  email_taken: () => ({
    title: 'mail.email_taken.title',
    what: ['mail.email_taken.what'],
    advice: ['mail.email_taken.me', 'mail.email_taken.not_me'],
  }),
  email_reserved: () => ({
    title: 'mail.email_reserved.title',
    what: ['mail.email_reserved.what'],
    advice: ['mail.email_reserved.me', 'mail.email_reserved.not_me'],
  }),
  email_left: () => ({
    title: 'mail.email_left.title',
    what: ['mail.email_left.what'],
    advice: ['mail.email_left.me', 'mail.email_left.not_me'],
  }),
  administration: ({ event }) => ({
    title: `mail.administration.${event}.title`,
    what: [`mail.administration.${event}.what`],
    advice:
      event === 'access_changed'
        ? ['mail.administration.unexpected']
        : ['mail.it_was_me', 'mail.administration.not_me'],
  }),
  test: () => ({ title: 'mail.test.title', what: ['mail.test.what'], advice: [] }),
  invite: () => ({
    title: 'mail.invite.title',
    what: ['mail.invite.what'],
    button: 'mail.invite.button',
    advice: ['mail.invite.not_me', 'mail.keep_link'],
  }),
  undo: ({ step }, own) =>
    step === 'requested'
      ? {
          title: 'mail.undo.requested.title',
          what: ['mail.undo.requested.what'],
          button: 'mail.undo.requested.button',
          advice: ['mail.it_was_me', own.ending('mail.undo.requested.not_me')],
          life: 'mail.undo.requested.life',
        }
      : {
          title: 'mail.undo.changed.title',
          what: ['mail.undo.changed.what'],
          button: 'mail.undo.changed.button',
          advice: ['mail.undo.changed.expected', own.ending('mail.undo.changed.not_me')],
        },
}

type NoticeWords = Pick<Words, 'title' | 'what'>

type NoticeWordsOf = { [Kind in Notice['kind']]: (message: MessageOf<Kind>, own: Own) => NoticeWords }

/** Most kinds of notices have a title and one paragraph, with the name of the kind in their keys. */
const usual = (kind: Exclude<Notice['kind'], 'login_limited'>) => (): NoticeWords => ({
  title: `mail.${kind}.title`,
  what: [`mail.${kind}.what`],
})

const leftWords = (left: number): TextKey =>
  left === 0 ? 'mail.recovery_code_used.none_left' : t.formOf('mail.recovery_code_used.left', left)

const noticeWords: NoticeWordsOf = {
  email_changed: usual('email_changed'),
  username_changed: usual('username_changed'),
  name_changed: usual('name_changed'),
  password_changed: ({ how, by, ...message }) => ({
    title: `mail.password_${how}.title`,
    what: [
      ended(
        by === 'operator' && how !== 'reset' ? `mail.password_${how}.by_operator` : `mail.password_${how}.what`,
        message,
      ),
    ],
  }),
  provider_connected: usual('provider_connected'),
  provider_removed: usual('provider_removed'),
  passkey_added: usual('passkey_added'),
  passkey_removed: usual('passkey_removed'),
  second_factor_set_up: usual('second_factor_set_up'),
  second_factor_removed: usual('second_factor_removed'),
  second_factor_reset: (message) => ({
    title: 'mail.second_factor_reset.title',
    what: [ended('mail.second_factor_reset.what', message), 'mail.second_factor_reset.again'],
  }),
  recovery_code_used: ({ left }) => ({
    title: 'mail.recovery_code_used.title',
    what: ['mail.recovery_code_used.what', leftWords(left)],
  }),
  recovery_codes_renewed: usual('recovery_codes_renewed'),
  wrong_codes: usual('wrong_codes'),
  account_deleted: usual('account_deleted'),
  account_exported: usual('account_exported'),
  account_taken_over: (message, own) => ({
    title: 'mail.account_taken_over.title',
    what: ['mail.account_taken_over.what', ended(own('mail.account_taken_over.ended'), message)],
  }),
  login_limited: ({ logins }) => ({ title: 'mail.login_limited.title', what: [`mail.login_limited.${logins}`] }),
  new_browser: usual('new_browser'),
  sign_in_link_created: usual('sign_in_link_created'),
  application_connected: usual('application_connected'),
}

/** The end of a notice depends on what its reader can do about it. */
type Ending = Pick<Words, 'button' | 'advice'> & {
  /** The button leads to this page of the service, if the message has no link of its own. */
  page?: string
}

const RESET_PAGE = '/auth/password/forgot'

const endingOf = (message: NoticeMessage, own: Own): Ending => {
  const { kind } = message
  if ('notMe' in message && message.notMe)
    return {
      button: 'mail.added.button',
      advice: ['mail.it_was_me', own.ending(kind === 'new_browser' ? 'mail.new_browser.not_me' : 'mail.added.not_me')],
    }
  if (kind === 'account_deleted') return { advice: ['mail.account_deleted.unwanted'] }
  // The reader has no account with this address any more, and could not get a reset link.
  if (message.toFormerAddress) return { advice: ['mail.copy.why', 'mail.copy.not_me'] }
  const reset = { button: own('mail.changed.button'), page: RESET_PAGE }
  if (kind === 'login_limited')
    return { ...reset, advice: [own('mail.login_limited.me'), own('mail.login_limited.not_me')] }
  if (kind === 'wrong_codes') return { ...reset, advice: ['mail.wrong_codes.me', own('mail.wrong_codes.not_me')] }
  const account = { button: 'mail.by_operator.button', page: '/auth/account' } as const
  if (kind === 'account_taken_over') return { ...account, advice: ['mail.by_operator.unexpected'] }
  if (message.by === 'user') return { ...reset, advice: ['mail.it_was_me', own.ending('mail.changed.not_me')] }
  return kind === 'password_changed'
    ? { ...reset, advice: ['mail.by_operator.own_password', 'mail.by_operator.unexpected'] }
    : { ...account, advice: ['mail.by_operator.unexpected'] }
}

export const isNotice = (message: Message): message is NoticeMessage => message.kind in noticeWords

/** Finds the texts of a message, and the page to which its button leads if it has no link of its own. */
export const wordsOf = (message: Message, settings: Settings): Words & { page?: string } => {
  const own = ownOf(settings)
  // Each function of the tables takes the messages of its own kind.
  if (!isNotice(message)) return (linkWords[message.kind] as (message: Message, own: Own) => Words)(message, own)
  const words = noticeWords[message.kind] as (message: Message, own: Own) => NoticeWords
  return { ...words(message, own), ...endingOf(message, own) }
}
