import { isIP } from 'node:net'
import { isLocalOrigin } from '../lib/url.ts'
import type { ReadSettings } from './settings.ts'

type Settings = Pick<ReadSettings, 'passkeys' | 'baseUrl' | 'relyingPartyId'>

/**
 * The domain that passkeys belong to. Undefined where there are none: they are switched off, or browsers offer none
 * under this base URL (`canHavePasskeys`).
 */
export const relyingPartyIdOf = ({ passkeys, baseUrl, relyingPartyId }: Settings): string | undefined =>
  passkeys && canHavePasskeys(baseUrl) ? (relyingPartyId ?? hostOf(baseUrl)) : undefined

/**
 * Browsers offer passkeys to secure origins with a domain: https, or http under `localhost` or a name below it
 * (WebAuthn section 13.4.9).
 */
const canHavePasskeys = (baseUrl: string | undefined): boolean => {
  const host = hostOf(baseUrl)
  if (isIP(host.replace(/^\[|\]$/g, '')) !== 0) return false
  return baseUrl === undefined || baseUrl.startsWith('https:') || isLocalOrigin(baseUrl)
}

/**
 * Names under which countries give out domains, such as `co.uk`. svc has no list of public suffixes, which would be old
 * soon: those that people take for a domain of theirs are of this form.
 */
const looksLikeSuffix = (domain: string): boolean =>
  /^(?:ac|co|com|edu|go|gob|gov|ltd|mil|ne|net|nom|or|org|plc|sch)\.[a-z]{2}$/.test(domain)

/** One line where passkeys are on, and browsers offer none under this base URL, or refuse the domain. */
export const warnOfPasskeys = ({ passkeys, baseUrl, relyingPartyId = '' }: Settings): string | undefined => {
  if (!passkeys) return undefined
  if (!canHavePasskeys(baseUrl))
    return (
      `SVC_BASE_URL="${baseUrl}" allows no passkeys: browsers offer them under https with a domain, and under ` +
      'http://localhost; set SVC_PASSKEYS=off if there shall be none'
    )
  const host = hostOf(baseUrl)
  if (!looksLikeSuffix(relyingPartyId) || relyingPartyId === host) return undefined
  const labels = host.slice(0, -relyingPartyId.length - 1).split('.')
  return (
    `SVC_WEBAUTHN_RP_ID="${relyingPartyId}" seems to be a name under which anybody can have a domain: browsers refuse ` +
    `passkeys for it; set it to a domain of your own, such as ${labels.at(-1)}.${relyingPartyId}`
  )
}

/** Whether browsers accept the domain for this base URL: its host, or a parent domain. */
export const isOwnDomain = (domain: string, baseUrl: string | undefined): boolean =>
  hostOf(baseUrl) === domain || (domain.includes('.') && hostOf(baseUrl).endsWith(`.${domain}`))

const hostOf = (baseUrl: string | undefined): string =>
  baseUrl === undefined ? 'localhost' : new URL(baseUrl).hostname
