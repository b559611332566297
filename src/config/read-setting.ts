import { AppError } from '../lib/errors.ts'
import type { Setting } from './settings.ts'

export type Environment = Record<string, string | undefined>

/** Where settings come from, and what is wrong with them: a line each. */
export interface Source {
  environment: Environment
  /** For variables that name a file. */
  readFile: (path: string) => string
  problems: string[]
}

/** Whether a value was given, an empty one not counting. */
export const isGiven = ({ name, secret }: Setting<unknown>, environment: Environment): boolean =>
  Boolean(environment[name] || (secret && environment[`${name}_FILE`]))

const asItIs = (text: string): string => text

/** The value that was given, or the default; undefined where there is none, or where a problem was found. */
export const readSetting = (entry: Setting<unknown>, { environment, readFile, problems }: Source): unknown => {
  const { name, format: accepts, secret, defaultValue: fallback, show = asItIs } = entry
  const file = secret ? environment[`${name}_FILE`] : undefined
  if (file && environment[name]) {
    problems.push(`${name} and ${name}_FILE are both set: set one of them`)
    return undefined
  }
  let text = environment[name] || fallback
  try {
    if (file) text = readFile(file).trim()
  } catch (error) {
    problems.push(`${name}_FILE=${JSON.stringify(file)} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    return undefined
  }
  if (file && !text) problems.push(`${name}_FILE=${JSON.stringify(file)} is empty: ${accepts}`)
  if (!text) return undefined
  try {
    const value = entry.parse(text)
    if (value !== undefined) return value
    problems.push(`${name}${secret ? '' : `=${JSON.stringify(show(text))}`} is not accepted: ${accepts}`)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    problems.push(`${name} is not accepted: ${error.message}`)
  }
  return undefined
}
