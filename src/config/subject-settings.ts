import { loginAudience } from '../lib/audience.ts'
import { createLanguages, type Languages } from '../languages/languages.ts'
import type { MailSettings } from '../mail/mail-settings.ts'
import { appNameOf, type Config, defaultBaseUrl } from './config.ts'
import { foreignHashBytes } from './hash-cost.ts'

const webhookSettings = (config: Config) => {
  const { webhookUrl: url, webhookSecret: secret } = config
  if (!url || !secret) return undefined
  return {
    url,
    secret,
    previousSecret: config.previousWebhookSecret,
    enabledEvents: config.webhookEvents,
    timeoutMs: config.webhookTimeoutMs,
    maxAttempts: config.webhookMaxAttempts,
  }
}

/** Messages have this name, these colours and these links. */
export const messageBranding = (config: Config, baseUrl: string): MailSettings['branding'] => {
  const { accentColor, colorScheme, ownStyle, supportUrl, passwords, clients } = config
  const appName = appNameOf(config, baseUrl)
  return { appName, accentColor, colorScheme, ownStyle, baseUrl, supportUrl, passwords, clients }
}

const mailSettings = (config: Config, baseUrl: string, languages: Languages) => {
  const { smtp: server, mailFrom: from, mailTimeoutMs: timeoutMs } = config
  if (!server || !from) return undefined
  const branding = messageBranding(config, baseUrl)
  return { server, from, timeoutMs, branding, languages }
}

/** Pages have this look, and these links. */
export const frameSettings = (config: Config, baseUrl: string) => ({
  appName: appNameOf(config, baseUrl),
  logoUrl: config.logoUrl,
  logoDarkUrl: config.logoDarkUrl,
  faviconUrl: config.faviconUrl,
  colorScheme: config.colorScheme,
  providersFirst: config.providersFirst,
  accentColor: config.accentColor,
  ownStyle: config.ownStyle,
  supportUrl: config.supportUrl,
  termsUrl: config.termsUrl,
  privacyUrl: config.privacyUrl,
  homeUrl: config.homeUrl,
  mailIsOn: config.smtp !== undefined,
  passwords: config.passwords,
  emailSignIn: config.emailSignIn,
  clients: config.clients,
  passwordMinLength: config.passwordMinLength,
  passkeys: config.relyingPartyId !== undefined,
  providers: providerTargets(config, baseUrl),
})

/**
 * Lists the form targets that the Content-Security-Policy must allow for the buttons of providers. A provider may
 * redirect to any https host. Plain http is allowed for trials alone: to a provider on this machine, and back to the
 * base URL when the page was opened under another name.
 */
const providerTargets = ({ oauthProviders }: Config, baseUrl: string) => {
  const plainOrigins = [baseUrl, ...oauthProviders.map(({ issuer }) => new URL(issuer).origin)].filter(isPlain)
  return {
    iconUrls: oauthProviders.flatMap(({ iconUrl }) => iconUrl ?? []),
    formActions: oauthProviders.length === 0 ? [] : ['https:', ...new Set(plainOrigins)],
  }
}

const isPlain = (origin: string): boolean => origin.startsWith('http:')

const DAY_MS = 86_400_000

/** Tells each subject of the domain its settings, under the names that the subject has for them. */
export const settingsOfSubjects = (config: Config) => {
  const baseUrl = config.baseUrl ?? defaultBaseUrl(config.port)
  const appName = appNameOf(config, baseUrl)
  const languages = createLanguages({ usual: config.language, offered: config.languages, own: config.ownTexts })
  const acceptsCodes = config.secondFactor !== 'off'
  const acceptsPasskeys = config.relyingPartyId !== undefined
  return {
    baseUrl,
    languages,
    audit: { retentionMs: config.auditRetentionMs, isLogged: config.auditLog },
    keys: {
      // Keys stay published for as long as a token of theirs may be good.
      accessTokenLifetimeMs: Math.max(config.accessTokenLifetimeMs, config.clients ? config.clientTokenLifetimeMs : 0),
    },
    tokens: { issuer: baseUrl, audiences: config.audiences },
    sessions: {
      defaultAudience: loginAudience(config.audiences),
      names: config.names !== 'off',
      lifetimes: {
        accessTokenMs: config.accessTokenLifetimeMs,
        sessionMs: config.sessionLifetimeMs,
        idleMs: config.sessionIdleMs,
        graceMs: config.refreshGraceMs,
      },
    },
    clients: {
      baseUrl,
      issuer: `${baseUrl}/auth`,
      resources: config.clientResources,
      scopes: config.clientScopes,
      hosts: config.clientHosts,
      registration: config.clientRegistration,
      tokenMs: config.clientTokenLifetimeMs,
      grantIdleMs: config.clientGrantLifetimeMs,
      graceMs: config.refreshGraceMs,
    },
    revocations: {
      // A setting may let tokens of clients be good for a day, and let them be so again after a restart.
      longestTokenMs: Math.max(config.accessTokenLifetimeMs, config.clients ? DAY_MS : 0),
      // Readers leave as many connections to everybody else.
      maxReaders: Math.ceil(config.maxConnections / 2),
    },
    browsers: { trustMs: config.trustedBrowserMs },
    limits: { enabled: config.rateLimit },
    webhooks: { settings: webhookSettings(config), retentionMs: config.webhookRetentionMs },
    mail: { settings: mailSettings(config, baseUrl, languages) },
    notices: { tellsOfNewBrowsers: config.mailNotices, usernames: config.usernames },
    links: {
      lifetimes: { resetMs: config.resetTtlMs, verifyMs: config.verifyTtlMs, inviteMs: config.inviteTtlMs },
      acceptsPasswords: config.passwords,
      mode: config.emailVerification,
      signIn: {
        isOn: config.emailSignIn,
        withPasskey: config.emailSignInWithPasskey,
        signupOpen: config.signup === 'on',
      },
    },
    passwords: {
      atOnce: config.hashesAtOnce,
      waiting: config.hashQueue,
      cost: config.argon2,
      foreignBytes: foreignHashBytes(),
    },
    oauth: {
      providers: config.oauthProviders,
      signupOpen: config.signup !== 'off',
      timeoutMs: config.oauthTimeoutMs,
    },
    factors: { acceptsCodes, acceptsPasskeys },
    secondFactors: {
      appName,
      acceptsCodes,
      isRequired: config.secondFactor === 'required',
      rateLimit: config.rateLimit,
    },
    passkeys: { relyingParty: { id: config.relyingPartyId ?? '', name: appName } },
    administrators: { adminUrl: config.adminUrl, appName },
    directory: { acceptsPasswords: config.passwords, accepts: { codes: acceptsCodes, passkeys: acceptsPasskeys } },
  }
}
