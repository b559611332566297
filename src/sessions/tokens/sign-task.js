import { sign } from 'node:crypto'

/** Signs messages with one key; returns the signatures as DER in base64. */
export default ({ key, messages }) =>
  messages.map((message) => sign('sha256', Buffer.from(message), key).toString('base64'))
