import type { Message, MessageOf, NoticeMessage } from '../message.ts'
import type { NoticeWords, ServiceFacts } from './notice-words.ts'
import { messageTexts as texts, type Words } from './texts.ts'

type EndingName = keyof typeof texts.endings

const isNotice = (message: Message): message is NoticeMessage => message.kind in texts.notices

/** Whether a message goes to the owner of the account that it is about; the others can be caused by strangers. */
export const isAboutOwnAccount = (message: Message): message is NoticeMessage | MessageOf<'undo'> =>
  isNotice(message) || message.kind === 'undo'

const endingOf = (message: NoticeMessage): EndingName => {
  if ('notMe' in message && message.notMe) return 'not_me'
  if (message.kind === 'account_deleted') return 'gone'
  // The reader has no account with this address any more, and could not get a reset link.
  if (message.toFormerAddress) return 'former_address'
  if (message.kind === 'login_limited') return 'tried'
  if (message.kind === 'wrong_codes') return 'wrong_codes'
  if (message.kind === 'account_taken_over') return 'account'
  if (message.by === 'user') return 'way_back'
  return message.kind === 'password_changed' ? 'own_password' : 'account'
}

/** The texts of a message. */
export const wordsOf = (message: Message, service: ServiceFacts): Words => {
  // Each text of the catalogue takes the messages of its own kind.
  if (!isNotice(message)) {
    const words = texts.links[message.kind] as (message: Message, service: ServiceFacts) => Words
    return words(message, service)
  }
  const words = texts.notices[message.kind] as (message: Message, service: ServiceFacts) => NoticeWords
  return { ...words(message, service), ...texts.endings[endingOf(message)](service) }
}

/** The pages of the service to which messages without a link of their own lead. */
const PAGES: Partial<Record<EndingName, string>> = {
  account: '/auth/account',
  own_password: '/auth/password/forgot',
  tried: '/auth/password/forgot',
  way_back: '/auth/password/forgot',
  wrong_codes: '/auth/password/forgot',
}

/** Where the button of a message leads, and until when; undefined: it has none. */
export const destinationOf = (message: Message): { url: string; expiresAtMs?: number } | undefined => {
  if ('url' in message)
    return { url: message.url, ...('expiresAtMs' in message && { expiresAtMs: message.expiresAtMs }) }
  if ('notMe' in message) return message.notMe
  const url = isNotice(message) ? PAGES[endingOf(message)] : undefined
  return url === undefined ? undefined : { url }
}
