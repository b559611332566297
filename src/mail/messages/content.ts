import { canonicalAddress } from '../../lib/address.ts'
import type { KnownDevice } from '../../lib/device.ts'
import type { Message, MessageOf, NoticeMessage } from '../message.ts'
import { onOneLine, ownLink } from './harmless.ts'
import { linkTexts } from './link-texts.ts'
import { noticeTexts } from './notice-texts.ts'
import { messageTexts as texts, type NoticeWords, type ServiceFacts, type Words } from './texts.ts'

/** These settings give the messages of a service their look and their links. */
export interface MessageBranding {
  appName: string
  /** It has the form `#rrggbb`. */
  accentColor: string
  /** This is an origin, without a path. */
  baseUrl: string
  /** This is an https or mailto address. */
  supportUrl?: string | undefined
  /** This tells whether accounts can have passwords. */
  passwords: boolean
}

type Fact = readonly [label: string, value: string]

export type Block =
  | { kind: 'paragraph'; text: string }
  /** It is shown as a button, and as an address below it. */
  | { kind: 'link'; label: string; url: string; life: string | undefined }
  | { kind: 'facts'; facts: readonly Fact[] }

interface Help {
  lead: string
  shown: string
  url: string
}

/** The content of a message is in the order of reading, the same for its plain text and its HTML. */
export interface MessageContent {
  subject: string
  appName: string
  heading: string
  blocks: readonly Block[]
  sentBy: string
  help: Help | undefined
}

type EndingName = keyof typeof texts.endings

const isNotice = (message: Message): message is NoticeMessage => message.kind in noticeTexts

/** Tells whether a message goes to the owner of the account that it is about; strangers can cause the others. */
const isAboutOwnAccount = (message: Message): message is NoticeMessage | MessageOf<'undo'> =>
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

/** Finds the texts of a message. */
const wordsOf = (message: Message, service: ServiceFacts): Words => {
  // Each text of the catalogue takes the messages of its own kind.
  if (!isNotice(message)) {
    const words = linkTexts[message.kind] as (message: Message, service: ServiceFacts) => Words
    return words(message, service)
  }
  const words = noticeTexts[message.kind] as (message: Message, service: ServiceFacts) => NoticeWords
  return { ...words(message, service), ...texts.endings[endingOf(message)](service) }
}

/** Messages that have no link of their own lead to these pages of the service. */
const PAGES: Partial<Record<EndingName, string>> = {
  account: '/auth/account',
  own_password: '/auth/password/forgot',
  tried: '/auth/password/forgot',
  way_back: '/auth/password/forgot',
  wrong_codes: '/auth/password/forgot',
}

/** Finds the address to which the button of a message leads, and its end; returns undefined if it has none. */
const destinationOf = (message: Message): { url: string; expiresAtMs?: number } | undefined => {
  if ('url' in message)
    return { url: message.url, ...('expiresAtMs' in message && { expiresAtMs: message.expiresAtMs }) }
  if ('notMe' in message) return message.notMe
  const url = isNotice(message) ? PAGES[endingOf(message)] : undefined
  return url === undefined ? undefined : { url }
}

/** Writes a time as "22 November 2026 at 16:53 UTC". */
const momentText = (atMs: number): string =>
  texts.inUtc(
    new Intl.DateTimeFormat(texts.locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(atMs),
  )

const deviceText = ({ browser, system }: KnownDevice): string =>
  browser && system ? texts.deviceOn(browser, system) : (browser ?? system ?? texts.deviceUnknown)

/** Lists the known facts about the event and its cause. */
const factsOf = (message: Message, app: string): Fact[] => {
  const address = isAboutOwnAccount(message) ? canonicalAddress(message.address ?? '') : undefined
  const byOperator = 'by' in message && message.by === 'operator'
  return [
    // The text itself names both addresses of a change.
    ...('newEmail' in message ? [] : [[texts.email, message.email] as const]),
    [texts.time, momentText(message.occurredAtMs)],
    ...(byOperator ? [[texts.by, texts.operators(app)] as const] : []),
    ...(message.device ? [[texts.device, deviceText(message.device)] as const] : []),
    ...(address === undefined ? [] : [[texts.networkAddress, address] as const]),
  ]
}

const paragraphs = (all: readonly string[]): Block[] =>
  all.map((text) => ({ kind: 'paragraph', text: onOneLine(text) }))

const helpAt = (supportUrl: string): Help => {
  const { protocol, href, pathname } = new URL(supportUrl)
  return protocol === 'mailto:'
    ? { lead: texts.helpFrom, shown: pathname, url: href }
    : { lead: texts.helpAt, shown: href, url: href }
}

const lifeOf = (expiresAtMs: number | undefined): string | undefined =>
  expiresAtMs === undefined ? undefined : texts.linkLife(momentText(expiresAtMs))

/** A notice tells of an event, and then gives advice. The other messages are there for their link. */
const blocksOf = (message: Message, { appName, baseUrl, passwords }: MessageBranding): Block[] => {
  const { what, button, advice, life } = wordsOf(message, { app: appName, passwords })
  const destination = destinationOf(message)
  const link: Block[] =
    button && destination
      ? [
          {
            kind: 'link',
            label: onOneLine(button),
            url: ownLink(destination.url, baseUrl),
            life: life ?? lifeOf(destination.expiresAtMs),
          },
        ]
      : []
  const facts: Block = {
    kind: 'facts',
    facts: factsOf(message, appName).map(([label, value]) => [label, onOneLine(value)]),
  }
  return isAboutOwnAccount(message)
    ? [...paragraphs(what), facts, ...paragraphs(advice), ...link]
    : [...paragraphs(what), ...link, ...paragraphs(advice), facts]
}

/** Puts the texts, the link and the facts of a message together. */
export const contentOf = (message: Message, branding: MessageBranding): MessageContent => {
  const { appName, baseUrl, supportUrl, passwords } = branding
  const { subject, heading } = wordsOf(message, { app: appName, passwords })
  return {
    subject: onOneLine(subject),
    appName: onOneLine(appName),
    heading: onOneLine(heading),
    blocks: blocksOf(message, branding),
    sentBy: onOneLine(texts.sentBy(appName, new URL(baseUrl).host)),
    help: supportUrl === undefined ? undefined : helpAt(supportUrl),
  }
}
