import type { RootSecret } from '../lib/derived-keys.ts'
import { open, seal } from '../lib/secrets.ts'

/** The purpose of the key that content is sealed with. */
const SEALING = 'mail'

/** Encrypts what a message says, since it holds a token, with a key from the root secret, for one message alone. */
export interface ContentSealing {
  seal(content: object, messageId: string): string
  /** Undefined if no known root secret has sealed it for this message. */
  open<Content>(sealed: string, messageId: string): Content | undefined
}

export const createContentSealing = (rootSecret: RootSecret): ContentSealing => ({
  seal: (content, messageId) => seal(rootSecret.keys.for(SEALING), JSON.stringify(content), messageId),

  open<Content>(sealed: string, messageId: string) {
    const text = rootSecret.find((keys) => open(keys.for(SEALING), sealed, messageId)?.toString())
    return text === undefined ? undefined : (JSON.parse(text) as Content)
  },
})
