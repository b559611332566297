import { AppError } from '../../lib/errors.ts'
import type { Documentation } from '../../http/route.ts'
import type { Fields } from '../../http/body/form.ts'

type Parameter = NonNullable<Documentation['parameters']>[number]

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000

export const TIME_EXPECTED = 'a time such as 2026-11-22T20:15:00Z; + is %2B in a query'

export const refusal = (field: string, expected: string): AppError =>
  new AppError('invalid_request', `The query parameter "${field}" must be ${expected}.`, { field })

/** Reads parameters of a query; throws `invalid_request`, with the field, for a value that is not accepted. */
export const createQueryReader =
  (query: Fields) =>
  <Value>(name: string, parse: (text: string) => Value | undefined, expected: string): Value | undefined => {
    const text = query.get(name)
    if (text === undefined) return undefined
    const value = parse(text)
    if (value === undefined) throw refusal(name, expected)
    return value
  }

/** Reads the size of a page of a list. */
export const readLimit = (query: Fields): number =>
  createQueryReader(query)('limit', parseLimit, `a number from 1 to ${MAX_LIMIT}`) ?? DEFAULT_LIMIT

const parseLimit = (text: string): number | undefined => {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  return limit >= 1 && limit <= MAX_LIMIT ? limit : undefined
}

export const parameter = (name: string, description: string, schema: object = { type: 'string' }): Parameter =>
  ({ name, in: 'query', required: false, description, schema: { ...schema } }) as const

export const limitParameter = (what: string): Parameter =>
  parameter('limit', `How many ${what} a page holds at most`, {
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
  })
