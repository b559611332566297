import { sign } from 'node:crypto'

const signOne = (key, message) => sign('sha256', Buffer.from(message), key).toString('base64')

/** Signs the lines of a text with one key; returns the signatures as DER in base64, a line for each. */
export default ({ key, text }) =>
  text
    .split('\n')
    .map((message) => signOne(key, message))
    .join('\n')
