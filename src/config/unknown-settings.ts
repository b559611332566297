import { findClosest } from '../lib/closest-match.ts'
import { variablePrefix } from './provider-parsers.ts'
import { findProviderName, listProviderSettings } from './provider-settings.ts'
import type { Environment } from './read-setting.ts'
import { SETTINGS, type Setting } from './settings.ts'

const PREFIX = 'SVC_'
/** Of the SDK, which may share a `.env` with svc. */
const OF_SDK = ['SVC_API_KEY', 'SVC_BIN', 'SVC_NODE', 'SVC_URL']
const looksLikeSetting = (name: string): boolean => /^SVC_(?!TEST_)/i.test(name)

/** A warning for each variable that begins with `SVC_` and is no setting, with the setting that was probably meant. */
export const findUnknownSettings = (environment: Environment, providers: readonly string[]): string[] => {
  const known = [...Object.values<Setting<unknown>>(SETTINGS), ...providers.flatMap(listProviderSettings)].flatMap(
    ({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name]),
  )
  return Object.keys(environment)
    .filter((name) => looksLikeSetting(name) && !known.includes(name) && !OF_SDK.includes(name))
    .flatMap((name) => {
      const provider = findProviderName(name)
      const isListed = providers.some((listed) => name.startsWith(variablePrefix(listed)))
      if (provider === undefined || isListed) return [`${name} is not a setting of svc${suggest(name, known)}`]
      // An empty variable of a provider that is not listed is no mistake: a template may contain every provider.
      const noEffect = `${name} has no effect: SVC_OAUTH_PROVIDERS does not name "${provider}"`
      return environment[name] ? [`${noEffect}${suggest(name, known)}`] : []
    })
}

/** Compares without the common prefix, which would make every name look similar. */
const suggest = (name: string, known: readonly string[]): string => {
  const endings = known.map((each) => each.slice(PREFIX.length))
  const meant = findClosest(name.slice(PREFIX.length).toUpperCase(), endings)
  return meant === undefined ? '' : `; did you mean ${PREFIX}${meant}?`
}
