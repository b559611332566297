import { readVariable } from '../environment.ts'
import { onDemand } from './on-demand.ts'

// Whatever a header could not carry, or a whole line of a file with the key in it, is no key.
const requireForm = (apiKey: string, name: string): string => {
  if (/^svc_sk_[\w-]+$/.test(apiKey)) return apiKey
  throw new TypeError(`${name} must be a key that "svc api-keys create" has made: it begins with svc_sk_`)
}

const readKey = (given: string | undefined, option: string): string | undefined => {
  const text = given ?? readVariable('SVC_API_KEY')
  return text === undefined ? undefined : requireForm(text, given === undefined ? 'SVC_API_KEY' : option)
}

/** The key of the server API, by the option or by `SVC_API_KEY`. Throws a `TypeError` at once for a wrong one. */
export const onDemandKey = (given: string | undefined, option = 'apiKey'): (() => string) =>
  onDemand(
    () => readKey(given, option),
    `The key of the server API is missing: give the option "${option}" or set SVC_API_KEY to one that "svc api-keys create" has made.`,
  )
