import { AppError } from '../../lib/errors.ts'

/** What a JSON object holds. A field that is null counts as left out: that is how a query of a database writes it. */
export type UserFields = Record<string, unknown>

export const wrong = (field: string, message: string): AppError => new AppError('unprocessable', message, { field })

export const objectOf = (value: unknown, message: string, field?: string): UserFields => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as UserFields
  throw new AppError('unprocessable', message, field === undefined ? {} : { field })
}

/** Reads a field of an object that stands at `path`; `unprocessable` when it has another type. */
type Read<T> = (fields: UserFields, name: string, path?: string) => T | undefined

const reader =
  <T>(isRight: (value: unknown) => value is T, what: string): Read<T> =>
  (fields, name, path = name) => {
    // The prototype of the object has no say.
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (value === undefined || value === null) return undefined
    if (isRight(value)) return value
    throw wrong(path, `It must be ${what}.`)
  }

const isText = (value: unknown): value is string => typeof value === 'string'
const isTextList = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText)

export const stringOf = reader(isText, 'a string')
export const booleanOf = reader((value): value is boolean => typeof value === 'boolean', 'true or false')
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

export const countOf = reader(isCount, 'a number from 0')
export const stringListOf = reader(isTextList, 'an array of strings')
