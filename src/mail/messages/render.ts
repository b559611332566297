import type { Message } from '../message.ts'
import { contentOf, type MessageBranding } from './content.ts'
import { htmlPart } from './html-part.ts'
import { textPart } from './text-part.ts'

/** A message as it is sent. The subject is one line without control characters. */
export interface RenderedMessage {
  subject: string
  text: string
  html: string
}

/** Renders a message from the catalogue. */
export const renderMessage = (message: Message, branding: MessageBranding): RenderedMessage => {
  const content = contentOf(message, branding)
  return { subject: content.subject, text: textPart(content), html: htmlPart(content, branding.accentColor) }
}
