import { isLoopbackHost } from '../lib/network.ts'
import type { ReadSettings } from './read-settings.ts'
import { type Environment, isSet } from './read-setting.ts'
import { SETTINGS } from './settings.ts'

/** What is impossible with mail, or without it, one line each. */
export const findMailConflicts = (environment: Environment, settings: ReadSettings): string[] =>
  isSet(SETTINGS.smtp, environment) ? findConflictsWithMail(environment, settings) : findConflictsWithoutMail(settings)

const findConflictsWithMail = (environment: Environment, { smtp, baseUrl }: ReadSettings): string[] => [
  ...(isSet(SETTINGS.mailFrom, environment)
    ? []
    : ['SVC_MAIL_FROM is missing: it must be set when SVC_SMTP_URL is, to the address that messages come from']),
  ...(smtp && !isLoopbackHost(smtp.host) && isOnThisMachine(baseUrl, environment)
    ? [
        `SVC_BASE_URL must be set to the public origin when SVC_SMTP_URL leads to ${smtp.host}: links in messages would ` +
          'lead to the machine of the user who reads them',
      ]
    : []),
]

/** An invalid base URL is an error already. */
const isOnThisMachine = (baseUrl: string | undefined, environment: Environment): boolean =>
  baseUrl ? isLoopbackHost(new URL(baseUrl).hostname.replace(/^\[|\]$/g, '')) : !isSet(SETTINGS.baseUrl, environment)

const findConflictsWithoutMail = ({ emailVerification }: ReadSettings): string[] =>
  emailVerification === 'optional' || emailVerification === 'required'
    ? [`SVC_EMAIL_VERIFICATION=${emailVerification} needs mail: set SVC_SMTP_URL and SVC_MAIL_FROM`]
    : []
