import { hash } from 'node:crypto'
import { AppError } from '../lib/errors.ts'
import type { Position } from './revocation.ts'

/** The sum shows that a cursor was not cut or changed on its way. It keeps nobody from making one: it opens nothing. */
const sumOf = (text: string): string => hash('sha256', text, 'base64url').slice(0, 8)

/** A reader goes on after this place. */
export const toCursor = ({ seq, mark }: Position): string => {
  const text = `${seq} ${mark}`
  return Buffer.from(`${text} ${sumOf(text)}`).toString('base64url')
}

const CURSOR = /^(\d{1,15}) ([\w-]{1,64}) /

/** Throws `invalid_request` for what is no cursor. One of another database can be read. */
export const readCursor = (text: string): Position => {
  const [, seq, mark = ''] = CURSOR.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? []
  const position = { seq: Number(seq), mark }
  if (seq !== undefined && toCursor(position) === text) return position
  const message = 'The cursor must be a next_cursor, or the id of an event, as svc has given it.'
  throw new AppError('invalid_request', message, { field: 'cursor' })
}
