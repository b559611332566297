import { canonicalAddress, UNKNOWN_NETWORK } from '../../lib/address.ts'
import type { OwnStyle } from '../../lib/own-style.ts'
import type { ColorScheme } from '../../lib/theme.ts'
import type { KnownDevice } from '../../lib/device.ts'
import type { Message, MessageOf, NoticeMessage } from '../message.ts'
import { onOneLine, ownLink } from './harmless.ts'
import { lifeText } from './language.ts'
import { listText, momentText, numberText } from '../../languages/formats.ts'
import { t, type TextKey, type TextValues } from '../../languages/texts.ts'
import { isNotice, type Paragraph, type Words, wordsOf } from './words.ts'

/** These settings give the messages of a service their look and their links. */
export interface MessageBranding {
  appName: string
  /** It has the form `#rrggbb`. */
  accentColor: string
  /** By default it is `auto`. */
  colorScheme?: ColorScheme | undefined
  /** Its colours are those of messages too, as far as svc can read them. */
  ownStyle?: OwnStyle | undefined
  /** This is an origin, without a path. */
  baseUrl: string
  /** This is an https or mailto address. */
  supportUrl?: string | undefined
  /** This tells whether accounts can have passwords. */
  passwords: boolean
  /** This tells whether users connect applications of others; by default they do not. */
  clients?: boolean | undefined
}

export type Block =
  | { kind: 'paragraph'; text: string }
  /** The reader types it where they have asked for it. */
  | { kind: 'code'; code: string }
  /**
   * It is shown as a button, and as an address below it. The first button of a message is what its reader asked for;
   * one that is not is a way back.
   */
  | { kind: 'link'; isFirst: boolean; label: string; orOpen: string; url: string; life: string | undefined }
  | { kind: 'facts'; facts: readonly (readonly [label: string, value: string])[] }

/** The content of a message is in the order of reading, the same for its plain text and its HTML. */
export interface MessageContent {
  /** It says what happened, and is subject and heading. */
  title: string
  appName: string
  blocks: readonly Block[]
  sentBy: string
  support: { label: string; shown: string; url: string } | undefined
}

/** Tells whether a message goes to the owner of the account that it is about; strangers can cause the others. */
const isAboutOwnAccount = (message: Message): message is NoticeMessage | MessageOf<'undo' | 'administration'> =>
  isNotice(message) || message.kind === 'undo' || message.kind === 'administration'

/** Names what an operator removed from an account. */
const removedText = ({ codes, passkeys }: MessageOf<'second_factor_reset'>): string =>
  listText([
    ...(codes ? [t('mail.second_factor_reset.app')] : []),
    t('mail.second_factor_reset.recovery_codes'),
    ...(passkeys > 0 ? [t.plural('mail.second_factor_reset.passkeys', passkeys)] : []),
  ])

/** The texts may name these values of a message, and neither its link nor its cause. */
const NAMED = {
  email: 'email',
  old_email: 'oldEmail',
  new_email: 'newEmail',
  old_username: 'oldUsername',
  new_username: 'newUsername',
  provider: 'provider',
  administrator: 'administrator',
  place: 'place',
} as const

const valuesOf = (message: Message, { appName: app, baseUrl: site }: MessageBranding): TextValues => {
  const values: Partial<Record<(typeof NAMED)[keyof typeof NAMED], string>> = message
  const named = Object.entries(NAMED).flatMap(([place, name]) => {
    const value = values[name]
    return value === undefined ? [] : [[place, onOneLine(value)] as const]
  })
  return {
    app: onOneLine(app),
    site,
    ...Object.fromEntries(named),
    ...(message.kind === 'recovery_code_used' && { count: numberText(message.left) }),
    ...(message.kind === 'second_factor_reset' && { removed: removedText(message) }),
    ...(message.kind === 'administration' && { command: `svc admins reset ${onOneLine(message.administrator)}` }),
  }
}

const deviceText = ({ browser, system }: KnownDevice): string =>
  browser && system ? t('device.name', { browser, system }) : (browser ?? system ?? t('device.unknown'))

type Fact = readonly [label: TextKey, value: string]

/** Names the application that was connected. Its name stands by itself, where it cannot become part of a sentence. */
const applicationFacts = ({ application, host }: MessageOf<'application_connected'>): Fact[] => [
  ...(application === undefined ? [] : [['mail.fact.application', application] satisfies Fact]),
  ['mail.fact.place', host ?? t('mail.fact.program')],
]

/** Lists the known facts about the event and its cause. */
const factsOf = (message: Message): readonly Fact[] => {
  const address = isAboutOwnAccount(message) ? canonicalAddress(message.address ?? '') : undefined
  const byOperator = 'by' in message && message.by === 'operator'
  const network = 'network' in message && message.network !== UNKNOWN_NETWORK ? message.network : undefined
  return [
    // The text itself names both addresses of a change.
    ...('newEmail' in message ? [] : [['mail.fact.email', message.email] satisfies Fact]),
    ...(message.kind === 'application_connected' ? applicationFacts(message) : []),
    ['mail.fact.time', momentText(message.occurredAtMs)],
    ...(byOperator ? [['mail.fact.by', t('mail.fact.operator')] satisfies Fact] : []),
    ...(message.device ? [['mail.fact.device', deviceText(message.device)] satisfies Fact] : []),
    ...(address === undefined ? [] : [['mail.fact.address', address] satisfies Fact]),
    ...(network === undefined ? [] : [['mail.fact.network', network] satisfies Fact]),
  ]
}

const supportAt = (url: string): MessageContent['support'] => {
  const { protocol, href, pathname } = new URL(url)
  return { label: t('mail.support'), shown: protocol === 'mailto:' ? pathname : href, url: href }
}

const sentByOf = (app: string, baseUrl: string): string => {
  const { host } = new URL(baseUrl)
  return app === host ? t('mail.sent_by_host', { host }) : t('mail.sent_by', { app: onOneLine(app), host })
}

/** Finds the address to which the button leads, and how long that is good; pages of the service always are. */
const destinationOf = (message: Message, page: string | undefined): { url?: string; lifetimeMs?: number } => {
  if ('notMe' in message && message.notMe) return message.notMe
  if (!('url' in message)) return page === undefined ? {} : { url: page }
  return 'lifetimeMs' in message ? { url: message.url, lifetimeMs: message.lifetimeMs } : { url: message.url }
}

const linkOf = (
  message: Message,
  { button, life, page }: Words & { page?: string },
  { baseUrl }: MessageBranding,
): Block[] => {
  const { url, lifetimeMs } = destinationOf(message, page)
  if (button === undefined || url === undefined) return []
  const lifetime = lifetimeMs === undefined ? undefined : lifeText(lifetimeMs)
  return [
    {
      kind: 'link',
      isFirst: !isAboutOwnAccount(message),
      label: t(button),
      orOpen: t('mail.link'),
      url: ownLink(url, baseUrl),
      life: life === undefined ? lifetime : t(life),
    },
  ]
}

/**
 * Puts the texts, the link and the facts of a message together. A notice tells about an event, and then gives advice;
 * the other messages are there for their link.
 */
export const contentOf = (message: Message, branding: MessageBranding): MessageContent => {
  const { appName, baseUrl, supportUrl } = branding
  const words = wordsOf(message, branding)
  const values = valuesOf(message, branding)
  const say = (key: TextKey): string => t(key, values).trim()
  const paragraphs = (all: readonly Paragraph[]): Block[] =>
    all.map((one) => ({
      kind: 'paragraph',
      text: typeof one === 'string' ? say(one) : t('common.sentences', { first: say(one[0]), second: say(one[1]) }),
    }))
  const [what, advice, link] = [paragraphs(words.what), paragraphs(words.advice), linkOf(message, words, branding)]
  const code: Block[] = 'code' in message ? [{ kind: 'code', code: message.code }] : []
  const below = paragraphs(words.belowCode ?? [])
  const facts: Block = {
    kind: 'facts',
    facts: factsOf(message).map(([label, value]) => [t(label), onOneLine(value)]),
  }
  return {
    title: say(words.title),
    appName: onOneLine(appName),
    blocks: isAboutOwnAccount(message)
      ? [...what, facts, ...advice, ...link]
      : [...what, ...code, ...below, ...link, ...advice, facts],
    sentBy: sentByOf(appName, baseUrl),
    support: supportUrl === undefined ? undefined : supportAt(supportUrl),
  }
}
