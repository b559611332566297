import type { SettingValues } from './settings.ts'

/** Settings without a default value: unset, they are undefined. */
type OptionalKey =
  | 'baseUrl'
  | 'metricsPort'
  | 'hstsMs'
  | 'secret'
  | 'previousSecret'
  | 'audiences'
  | 'hashesAtOnce'
  | 'oauthProviders'
  | 'emailDomains'
  | 'emailVerification'
  | 'smtp'
  | 'mailFrom'
  | 'supportUrl'
  | 'webhookUrl'
  | 'webhookSecret'
  | 'previousWebhookSecret'
  | 'webhookEvents'
  | 'appName'
  | 'logoUrl'
export type ReadSettings = Omit<SettingValues, OptionalKey> & Partial<Pick<SettingValues, OptionalKey>>
