import { AppError } from '../lib/errors.ts'
import type { Parser } from './parsers.ts'

export interface Setting<T> extends Parser<T> {
  name: `SVC_${string}`
  description: string
  /** The text that is parsed when the variable is unset. */
  defaultValue?: string
  /** Describes a default that is no text, or depends on other settings. */
  defaultText?: string
  unsetValue?: T
  /** The value is never shown, and may come from a file: `NAME_FILE` holds its path. */
  secret?: boolean
}

/** The value of a row as read: without a default, it may be undefined. */
export type ValueOf<Row> =
  Row extends Parser<infer T>
    ? Row extends { defaultValue: string } | { unsetValue: unknown }
      ? T
      : T | undefined
    : never

export type Environment = Record<string, string | undefined>

/** Settings are read from it, and it collects the errors. */
export interface SettingSource {
  environment: Environment
  readFile: (path: string) => string
  errors: string[]
}

/** Whether a setting has a value. An empty variable counts as unset. */
export const isSet = ({ name, secret }: Setting<unknown>, environment: Environment): boolean =>
  Boolean(environment[name] || (secret && environment[`${name}_FILE`]))

/** Keeps the lines whose conditions hold. */
export const linesOf = (lines: (string | false | undefined)[]): string[] =>
  lines.filter((line) => typeof line === 'string')

const unchanged = (text: string): string => text

/** Reads one setting. Undefined when it is unset and has no default, or when an error was added to `source.errors`. */
export const readSetting = (setting: Setting<unknown>, source: SettingSource): unknown => {
  const { name, secret } = setting
  const { environment, errors } = source
  const file = secret ? environment[`${name}_FILE`] : undefined
  if (file && environment[name]) {
    errors.push(`${name} and ${name}_FILE are both set: set one of them`)
    return undefined
  }
  const text = file ? readSettingFile(setting, file, source) : environment[name] || setting.defaultValue
  if (file && !text) return undefined
  return text ? parseSetting(setting, text, errors) : setting.unsetValue
}

const readSettingFile = ({ name, format }: Setting<unknown>, file: string, { readFile, errors }: SettingSource) => {
  const variable = `${name}_FILE=${JSON.stringify(file)}`
  try {
    const text = readFile(file).trim()
    if (!text) errors.push(`${variable} is empty: ${format}`)
    return text
  } catch (error) {
    errors.push(`${variable} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    return undefined
  }
}

const parseSetting = (setting: Setting<unknown>, text: string, errors: string[]): unknown => {
  const { name, format, secret, show = unchanged } = setting
  try {
    const value = setting.parse(text)
    // The value of a secret stays out of error messages, which end up in logs.
    if (value === undefined)
      errors.push(`${name}${secret ? '' : `=${JSON.stringify(show(text))}`} is not accepted: ${format}`)
    return value
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    errors.push(`${name} is not accepted: ${error.message}`)
    return undefined
  }
}
