import {
  asksForOpenid,
  canBeOnesOwn,
  microsoftIssuer,
  PRESETS,
  type ProviderSettings,
  presetOf,
} from '../oauth/providers/presets.ts'
import { variablesBegin } from './provider-parsers.ts'
import { type NamedSetting, type ProviderValues, settingsOf } from './provider-settings.ts'
import { type Environment, isGiven, readSetting, type Source } from './read-setting.ts'

/** Reads the settings of those providers, in that order. What is wrong joins the problems; such a one is left out. */
export const readProviders = (names: readonly string[], source: Source): ProviderSettings[] =>
  names.flatMap((name) => readProvider(name, source) ?? [])

const readProvider = (name: string, source: Source): ProviderSettings | undefined => {
  const { environment, problems } = source
  const read: Record<string, unknown> = {}
  for (const entry of settingsOf(name)) {
    if (entry.isRequired && !isGiven(entry, environment)) problems.push(missing(name, entry))
    else read[entry.key] = readSetting(entry, source)
  }
  const values = read as ProviderValues
  const issuer = issuerOf(name, values, environment)
  problems.push(...findContradictions(name, { ...values, issuer }, environment))
  return assemble(name, { ...values, issuer })
}

const missing = (name: string, { key, name: variable, format: accepts }: NamedSetting): string => {
  const line = `${variable} is missing: it must be set when SVC_OAUTH_PROVIDERS names "${name}": ${accepts}`
  return key === 'issuer' ? `${line}; only these names need no issuer: ${[...PRESETS.keys()].join(', ')}` : line
}

/** Undefined where it was given and cannot be used. */
const issuerOf = (name: string, values: ProviderValues, environment: Environment): string | undefined => {
  const begin = variablesBegin(name)
  if (presetOf(name).kind !== 'microsoft' || environment[`${begin}ISSUER`]) return values.issuer
  const tenant = environment[`${begin}TENANT`] ? values.microsoftTenant : 'common'
  return tenant && microsoftIssuer(tenant)
}

type Resolved = Omit<ProviderValues, 'issuer'> & { issuer: string | undefined }

const findContradictions = (name: string, values: Resolved, environment: Environment): string[] => {
  const { kind } = presetOf(name)
  const { scopes, trustsEmail, issuer } = values
  const begin = variablesBegin(name)
  return [
    ...(kind === 'microsoft' && environment[`${begin}ISSUER`] && environment[`${begin}TENANT`]
      ? [`${begin}ISSUER and ${begin}TENANT are both set: set one of them`]
      : []),
    ...(asksForOpenid(kind) && scopes && !scopes.includes('openid')
      ? [`${begin}SCOPES=${JSON.stringify(scopes.join(' '))} is not accepted: it must include openid`]
      : []),
    ...(trustsEmail && !canBeOnesOwn(kind, issuer)
      ? [`${begin}TRUST_EMAIL="on" is not accepted: ${NOT_ONES_OWN}`]
      : []),
  ]
}

const NOT_ONES_OWN =
  'anyone can have an account there, with any email; "on" is for an OpenID Connect provider, a GitLab or a Microsoft ' +
  'tenant that your organisation runs'

/** Undefined where something is missing of which a problem tells. */
const assemble = (name: string, values: Resolved): ProviderSettings | undefined => {
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
    apple: teamId && keyId ? { teamId, keyId } : undefined,
  }
}
