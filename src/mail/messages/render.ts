import type { Message } from '../message.ts'
import { type Block, contentOf, type MessageBranding, type MessageContent } from './content.ts'
import { htmlPart } from './html-part.ts'

/** A message is sent in this form. The subject is one line without control characters. */
export interface RenderedMessage {
  subject: string
  text: string
  html: string
}

const COLUMNS = 72

/** Breaks a paragraph between words. A longer word, such as an address, stays whole. */
const wrap = (paragraph: string): string => {
  const lines: string[] = []
  let line = ''
  for (const word of paragraph.split(' ')) {
    if (line && line.length + 1 + word.length > COLUMNS) {
      lines.push(line)
      line = word
    } else {
      line = line ? `${line} ${word}` : word
    }
  }
  return [...lines, line].join('\n')
}

const blockText = (block: Block): string => {
  if (block.kind === 'paragraph') return wrap(block.text)
  if (block.kind === 'facts') return block.facts.map(([label, value]) => `${label}: ${value}`).join('\n')
  const link = `${block.label}:\n${block.url}`
  return block.life === undefined ? link : `${link}\n\n${wrap(block.life)}`
}

/** Makes the plain text of a message. Its paragraphs have lines of at most 72 characters, but for longer words. */
const textPart = ({ heading, blocks, sentBy, help }: MessageContent): string =>
  [
    wrap(heading),
    ...blocks.map(blockText),
    // Mail programs recognise this line as the beginning of a signature.
    ['-- ', wrap(sentBy), ...(help ? [`${help.lead} ${help.shown}`] : [])].join('\n'),
  ].join('\n\n')

/** Renders a message from the catalogue. */
export const renderMessage = (message: Message, branding: MessageBranding): RenderedMessage => {
  const content = contentOf(message, branding)
  return { subject: content.subject, text: textPart(content), html: htmlPart(content, branding.accentColor) }
}
