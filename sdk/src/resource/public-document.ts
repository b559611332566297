import { addressOf, methodOf, type RequestLike } from '../request/source.ts'
import type { Answer } from './handler.ts'

/** For pages of any site: the documents are public, and no cookie changes them. */
const CORS = { 'access-control-allow-origin': '*' }

const PREFLIGHT: Answer = {
  status: 204,
  headers: {
    ...CORS,
    'access-control-allow-methods': 'GET, OPTIONS',
    'access-control-allow-headers': 'Authorization, Content-Type, MCP-Protocol-Version',
    'access-control-max-age': '86400',
  },
  body: '',
}

/** It only completes a path. */
const ANY_ORIGIN = 'http://svc.invalid'

const targetOf = (source: RequestLike): string | undefined => {
  const address = addressOf(source) ?? ''
  // A leading `//` would be another host.
  const text = address.startsWith('/') ? ANY_ORIGIN + address : address
  if (!URL.canParse(text)) return undefined
  const { pathname, search } = new URL(text)
  return pathname + search
}

/**
 * Answers requests for a document at addresses of its own, for every origin, and lets others through: other paths, and
 * other methods than GET, HEAD and OPTIONS.
 */
export const answerAt =
  (isOwn: (target: string) => boolean, write: () => Answer | Promise<Answer>) =>
  async (source: RequestLike): Promise<Answer | undefined> => {
    const target = targetOf(source)
    if (target === undefined || !isOwn(target)) return undefined
    const method = methodOf(source)
    if (method === 'OPTIONS') return PREFLIGHT
    if (method !== 'GET' && method !== 'HEAD') return undefined
    const { status, headers, body } = await write()
    return { status, headers: { ...CORS, ...headers }, body: method === 'HEAD' ? '' : body }
  }
