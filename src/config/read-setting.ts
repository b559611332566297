import { AppError } from '../lib/errors.ts'
import type { Setting } from './settings.ts'

export type Environment = Record<string, string | undefined>

/** Where settings are read from, and the errors found so far. */
export interface SettingSource {
  environment: Environment
  /** Reads the file that a variable ending in `_FILE` names. */
  readFile: (path: string) => string
  /** One line per error. */
  errors: string[]
}

/** Whether a setting has a value. An empty variable counts as unset. */
export const isSet = ({ name, secret }: Setting<unknown>, environment: Environment): boolean =>
  Boolean(environment[name] || (secret && environment[`${name}_FILE`]))

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
  return text ? parseSetting(setting, text, errors) : undefined
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
