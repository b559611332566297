import {
  asksForOpenid,
  canBeOnesOwn,
  microsoftIssuer,
  PRESETS,
  type ProviderSettings,
  presetOf,
} from '../oauth/providers/presets.ts'
import { variablePrefix } from './provider-parsers.ts'
import { listProviderSettings, type NamedSetting, type ProviderValues } from './provider-settings.ts'
import { type Environment, isSet, linesOf, readSetting, type SettingSource } from './setting.ts'

/** Reads the settings of these providers. One with an error is left out, and the error is added to `source.errors`. */
export const readProviders = (names: readonly string[], source: SettingSource): ProviderSettings[] =>
  names.flatMap((name) => readProvider(name, source) ?? [])

const readProvider = (name: string, source: SettingSource): ProviderSettings | undefined => {
  const { environment, errors } = source
  const read: Record<string, unknown> = {}
  for (const entry of listProviderSettings(name)) {
    if (entry.isRequired && !isSet(entry, environment)) errors.push(missingError(name, entry))
    else read[entry.key] = readSetting(entry, source)
  }
  const values = read as ProviderValues
  values.issuer = resolveIssuer(name, values, environment)
  errors.push(...findConflicts(name, values, environment))
  return toProviderSettings(name, values)
}

const missingError = (name: string, { key, name: variable, format }: NamedSetting): string => {
  const line = `${variable} is missing: it must be set when SVC_OAUTH_PROVIDERS names "${name}": ${format}`
  return key === 'issuer' ? `${line}; only these names need no issuer: ${[...PRESETS.keys()].join(', ')}` : line
}

/** The issuer of the provider; Microsoft's follows from the tenant. Undefined when the setting is invalid. */
const resolveIssuer = (name: string, values: ProviderValues, environment: Environment): string | undefined => {
  const prefix = variablePrefix(name)
  if (presetOf(name).kind !== 'microsoft' || environment[`${prefix}ISSUER`]) return values.issuer
  const tenant = environment[`${prefix}TENANT`] ? values.microsoftTenant : 'common'
  return tenant && microsoftIssuer(tenant)
}

const findConflicts = (name: string, values: ProviderValues, environment: Environment): string[] => {
  const { kind } = presetOf(name)
  const { scopes, trustsEmail, issuer } = values
  const prefix = variablePrefix(name)
  return linesOf([
    kind === 'microsoft' &&
      Boolean(environment[`${prefix}ISSUER`] && environment[`${prefix}TENANT`]) &&
      `${prefix}ISSUER and ${prefix}TENANT are both set: set one of them`,
    asksForOpenid(kind) &&
      scopes &&
      !scopes.includes('openid') &&
      `${prefix}SCOPES=${JSON.stringify(scopes.join(' '))} is not accepted: it must include openid`,
    trustsEmail && !canBeOnesOwn(kind, issuer) && `${prefix}TRUST_EMAIL="on" is not accepted: ${NOT_ONES_OWN}`,
  ])
}

const NOT_ONES_OWN =
  'anyone can have an account there, with any email; "on" is for an OpenID Connect provider, a GitLab or a Microsoft ' +
  'tenant that your organisation runs'

/** Returns undefined when a required setting is missing or invalid, which is in the errors already. */
const toProviderSettings = (name: string, values: ProviderValues): ProviderSettings | undefined => {
  const { clientId, clientSecret = values.applePrivateKey, issuer, scopes, label } = values
  const { appleTeamId: teamId, appleKeyId: keyId } = values
  if (!clientId || !clientSecret || !issuer || !scopes || !label) return undefined
  return {
    name,
    kind: presetOf(name).kind,
    label,
    iconUrl: values.iconUrl,
    clientId,
    clientSecret,
    issuer,
    scopes,
    allowedDomains: values.allowedDomains ?? [],
    trustsEmail: values.trustsEmail ?? false,
    secondFactor: values.secondFactor ?? 'ask',
    apple: teamId && keyId ? { teamId, keyId } : undefined,
  }
}
