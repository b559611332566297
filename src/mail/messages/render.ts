import { t } from '../../languages/texts.ts'
import type { Message } from '../message.ts'
import { type Block, contentOf, type MessageBranding, type MessageContent } from './content.ts'
import { htmlPart } from './html-part.ts'

/** A message is sent in this form. The subject is one line without control characters. */
export interface RenderedMessage {
  subject: string
  text: string
  html: string
}

const blockText = (block: Block): string => {
  if (block.kind === 'paragraph') return block.text
  if (block.kind === 'code') return block.code
  if (block.kind === 'facts')
    return block.facts.map(([label, value]) => t('mail.fact.line', { label, value })).join('\n')
  const link = `${t('mail.link_label', { button: block.label })}\n${block.url}`
  return block.life === undefined ? link : `${link}\n\n${block.life}`
}

/**
 * Makes the plain text of a message. A paragraph is one line, which mail programs wrap to the width of the screen; an
 * address has a line of its own.
 */
const textPart = ({ title, blocks, sentBy, support }: MessageContent): string =>
  [
    title,
    ...blocks.map(blockText),
    // Mail programs recognise this line as the beginning of a signature.
    ['-- ', sentBy, ...(support ? [support.label, support.shown] : [])].join('\n'),
  ].join('\n\n')

/** Renders a message from the catalogue. */
export const renderMessage = (message: Message, branding: MessageBranding): RenderedMessage => {
  const content = contentOf(message, branding)
  return { subject: content.title, text: textPart(content), html: htmlPart(content, branding) }
}
