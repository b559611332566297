import type { Message } from '../message.ts'
import { type Fact, factsOf, momentText } from './facts.ts'
import { onOneLine, ownLink } from './harmless.ts'
import { messageTexts as texts } from './texts.ts'
import { destinationOf, isAboutOwnAccount, wordsOf } from './words.ts'

/** How the messages of a service look, and where they lead. */
export interface MessageBranding {
  appName: string
  /** `#rrggbb` */
  accentColor: string
  /** An origin, without a path. */
  baseUrl: string
  /** An https or mailto address. */
  supportUrl?: string | undefined
  /** Whether accounts can have passwords. */
  passwords: boolean
}

/** A part of a message. */
export type Block =
  | { kind: 'paragraph'; text: string }
  /** Shown as a button, and as an address below it. */
  | { kind: 'link'; label: string; url: string; life: string | undefined }
  | { kind: 'facts'; facts: readonly Fact[] }

interface Help {
  lead: string
  shown: string
  url: string
}

/** What a message says, in the order of reading: the same for its plain text and its HTML. */
export interface MessageContent {
  subject: string
  appName: string
  heading: string
  blocks: readonly Block[]
  sentBy: string
  help: Help | undefined
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

/** A notice says what happened, and then what to do. The other messages are there for their link. */
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
