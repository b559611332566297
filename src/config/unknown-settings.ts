import { findClosest } from '../lib/spelling.ts'
import { variablesBegin } from './provider-parsers.ts'
import { providerOf, settingsOf } from './provider-settings.ts'
import type { Environment } from './read-setting.ts'
import { SETTINGS, type Setting } from './settings.ts'

const PREFIX = 'SVC_'
const looksLikeSetting = (name: string): boolean => /^SVC_(?!TEST_)/i.test(name)

/** A line for each variable that looks like a setting and is none, with the name that was probably meant. */
export const findUnknownSettings = (environment: Environment, providers: readonly string[]): string[] => {
  const known = [...Object.values<Setting<unknown>>(SETTINGS), ...providers.flatMap(settingsOf)].flatMap(
    ({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name]),
  )
  return Object.keys(environment)
    .filter((name) => looksLikeSetting(name) && !known.includes(name))
    .flatMap((name) => {
      const provider = providerOf(name)
      const isListed = providers.some((listed) => name.startsWith(variablesBegin(listed)))
      if (provider === undefined || isListed) return [`${name} is not a setting of svc${suggest(name, known)}`]
      // Set for a provider that was turned off, or empty in a file that has them all.
      const isOff = `${name} has no effect: SVC_OAUTH_PROVIDERS does not name "${provider}"`
      return environment[name] ? [`${isOff}${suggest(name, known)}`] : []
    })
}

/** What begins all names alike says nothing about which one was meant. */
const suggest = (name: string, known: readonly string[]): string => {
  const endings = known.map((each) => each.slice(PREFIX.length))
  const meant = findClosest(name.slice(PREFIX.length).toUpperCase(), endings)
  return meant === undefined ? '' : `; did you mean ${PREFIX}${meant}?`
}
