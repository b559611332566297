import { type Preset, type ProviderKind, presetOf } from '../oauth/providers/presets.ts'
import { imageUrl, oneOf, onOff, printable } from './parsers.ts'
import {
  appleId,
  applePrivateKey,
  credential,
  domains,
  issuer,
  scopes,
  tenant,
  variablePrefix,
} from './provider-parsers.ts'
import type { Setting, ValueOf } from './setting.ts'

interface ProviderSetting<T> extends Omit<Setting<T>, 'name' | 'unsetValue'> {
  /** The end of the variable, after the prefix with the provider's name. */
  ending: string
  /** Only this kind of provider has the setting. */
  only?: ProviderKind
  /** This kind of provider does not have the setting. */
  except?: ProviderKind
  /** The default, where it depends on the provider. */
  defaultOf?: (preset: Preset) => Pick<Setting<T>, 'defaultValue' | 'defaultText'>
  /** The setting must be set unless it has a default. */
  isRequired?: boolean
}

/** The table of settings that each provider has, beside `settings.ts`. */
export const PROVIDER_SETTINGS = {
  clientId: {
    ending: 'CLIENT_ID',
    description: 'Client ID of svc at the provider. Apple: the Services ID.',
    isRequired: true,
    ...credential,
  },
  clientSecret: {
    ending: 'CLIENT_SECRET',
    description: 'Client secret of svc at the provider.',
    except: 'apple',
    secret: true,
    isRequired: true,
    ...credential,
  },
  applePrivateKey: {
    ending: 'CLIENT_SECRET',
    description: 'Private key with which svc signs its own client secrets.',
    only: 'apple',
    secret: true,
    isRequired: true,
    ...applePrivateKey,
  },
  appleTeamId: {
    ending: 'TEAM_ID',
    description: 'ID of the team that owns the key.',
    only: 'apple',
    isRequired: true,
    ...appleId,
  },
  appleKeyId: {
    ending: 'KEY_ID',
    description: 'ID of the key.',
    only: 'apple',
    isRequired: true,
    ...appleId,
  },
  microsoftTenant: {
    ending: 'TENANT',
    description: 'Tenant whose accounts may sign in.',
    only: 'microsoft',
    defaultText: '`common`, unless the issuer is set',
    ...tenant,
  },
  issuer: {
    ending: 'ISSUER',
    description:
      'URL of the provider. Required for a provider that svc does not know; optional for a GitHub or GitLab of your own.',
    isRequired: true,
    defaultOf: ({ kind, issuer: known }) =>
      known === undefined ? {} : kind === 'microsoft' ? { defaultText: known } : { defaultValue: known },
    ...issuer,
  },
  scopes: {
    ending: 'SCOPES',
    description: 'Scopes to request. With OpenID Connect, `openid` must be one of them.',
    defaultOf: (preset) => ({ defaultValue: preset.scopes.join(' ') }),
    ...scopes,
  },
  label: {
    ending: 'LABEL',
    description: 'Name on the button.',
    defaultOf: (preset) => ({ defaultValue: preset.label }),
    ...printable(40),
  },
  iconUrl: {
    ending: 'ICON_URL',
    description: 'Image on the button: a path of the application or an absolute URL.',
    ...imageUrl,
  },
  allowedDomains: {
    ending: 'ALLOWED_DOMAINS',
    description: 'Only users with a verified email of one of these domains may sign in.',
    defaultText: 'any',
    ...domains,
  },
  trustsEmail: {
    ending: 'TRUST_EMAIL',
    description:
      '`on`: emails count as verified even if the provider does not say so. Only for a provider that your organisation runs.',
    defaultValue: 'off',
    ...onOff,
  },
  secondFactor: {
    ending: 'SECOND_FACTOR',
    description:
      'What users with one-time codes are asked after this provider. `ask`: for a code. `trusted`: nothing. `claims`: nothing ' +
      'where the ID token says that the provider has asked for a second factor a moment ago.',
    defaultValue: 'ask',
    ...oneOf('ask', 'trusted', 'claims'),
  },
} satisfies Record<string, ProviderSetting<unknown>>

type Table = typeof PROVIDER_SETTINGS
type Key = keyof Table

export type ProviderValues = { [K in Key]?: ValueOf<Table[K]> }

export interface NamedSetting extends Setting<unknown> {
  key: Key
  isRequired: boolean
}

/** The settings of one provider, with the names of its variables and its defaults. */
export const listProviderSettings = (name: string): NamedSetting[] => {
  const preset = presetOf(name)
  return Object.entries<ProviderSetting<unknown>>(PROVIDER_SETTINGS).flatMap(([key, entry]) => {
    const { ending, only = preset.kind, except, defaultOf, isRequired = false, ...rest } = entry
    if (only !== preset.kind || except === preset.kind) return []
    const defaults = { ...rest, ...defaultOf?.(preset) }
    const hasDefault = defaults.defaultValue !== undefined || defaults.defaultText !== undefined
    const variable = `${variablePrefix(name)}${ending}` as const
    return [{ ...defaults, key: key as Key, name: variable, isRequired: isRequired && !hasDefault }]
  })
}

const ENDINGS = new RegExp(
  `^SVC_OAUTH_([A-Z0-9_]+?)_(?:${Object.values<{ ending: string }>(PROVIDER_SETTINGS)
    .map(({ ending }) => ending)
    .join('|')})(?:_FILE)?$`,
)

/** The provider in the name of a variable, configured or not. `-` in the provider's name is returned as `_`. */
export const findProviderName = (variable: string): string | undefined => ENDINGS.exec(variable)?.[1]?.toLowerCase()
