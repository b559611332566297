import { AppError } from '../../../lib/errors.ts'
import { toTimestamp } from '../../../lib/time.ts'

/** What a JSON object of another system holds; nothing is known of the types. */
export type Values = Record<string, unknown>

export const valuesOf = (value: unknown): Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {}

export const objectsIn = (value: unknown): Values[] => (Array.isArray(value) ? value.map(valuesOf) : [])

/** Undefined for anything but a text that is not empty. */
export const textIn = (values: Values, name: string): string | undefined => {
  const value = values[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A whole number as a text. */
export const numberIn = (values: Values, name: string): string | undefined =>
  Number.isSafeInteger(values[name]) ? String(values[name]) : undefined

/** An object that is written as a JSON text. */
export const parsedIn = (values: Values, name: string): Values => {
  try {
    return valuesOf(JSON.parse(textIn(values, name) ?? '{}'))
  } catch {
    return {}
  }
}

/** A time in milliseconds since 1970, as a number or a text, in the form that an import takes. */
export const timeIn = (values: Values, name: string): string | undefined => {
  const timeMs = Number(values[name] ?? Number.NaN)
  return Number.isSafeInteger(timeMs) && timeMs >= 0 && timeMs < 8e15 ? toTimestamp(timeMs) : undefined
}

export const unreadableHash = (message: string): AppError =>
  new AppError('unprocessable', message, { field: 'password_hash' })

/** Base64 without padding, as PHC strings have it. */
export const withoutPadding = (base64: string): string => base64.replace(/=+$/, '')
