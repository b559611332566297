import { inspectJson } from '../../lib/json-members.ts'

/** One user of a file, or what is wrong with its text. `number` is that of the line, or of the user in a document. */
export type Item = { number: number; value: unknown } | { number: number; problem: string }

/** A user with hundreds of roles and connections needs less; what is longer is no user. */
export const MAX_ITEM_BYTES = 1024 * 1024

export const TOO_LONG = 'it is longer than 1 MiB'

/** The value of a JSON text. Problems do not repeat a value of the text, which may be a password. */
export const parseItem = (number: number, text: string): Item => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { number, problem: 'it is not valid JSON' }
  }
  const { repeated } = inspectJson(text)
  if (repeated === undefined) return { number, value }
  return { number, problem: `${repeated.slice(0, 40)}: it is there more than once` }
}
