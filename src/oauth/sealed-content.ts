import type { AuthorizationFlow, LinkRequest, PendingLink } from './authorization-flow.ts'
import type { AuthenticationMethod } from '../sessions/sign-in-grant.ts'
import type { ProviderProfile } from './profile.ts'

// The content of sealed tokens, as JSON. A sign-in that begins on one version of svc must end on another, older or
// newer: these keys never change, whatever the code calls the values.

interface SealedProfile {
  provider: string
  issuer: string
  subject: string
  email?: { shown: string; lower: string } | undefined
  emailVerified: boolean
  hostedDomain?: string | undefined
  name: string
  signedInAtMs?: number | undefined
  secondFactorAtMs?: number | undefined
}

interface SealedPendingLink {
  id?: string | undefined
  vouched: SealedProfile
  userId: string
  vouchedAtMs: number
}

export interface SealedLinkRequest extends SealedPendingLink {
  target: string
}

export interface SealedFlow {
  provider: string
  intent: AuthorizationFlow['intent']
  target: string
  userId?: string | undefined
  acr?: 'mfa' | undefined
  entry?: { purpose: string; token: string; proved?: readonly AuthenticationMethod[] | undefined } | undefined
  pending?: SealedPendingLink | undefined
  id: string
  startedAtMs: number
}

const profileToSealed = (profile: ProviderProfile): SealedProfile => ({
  provider: profile.provider,
  issuer: profile.issuer,
  subject: profile.subject,
  email: profile.email && { shown: profile.email.shown, lower: profile.email.lower },
  emailVerified: profile.emailVerified,
  hostedDomain: profile.hostedDomain,
  name: profile.name,
  signedInAtMs: profile.signedInAtMs,
  ...(profile.secondFactorAtMs !== undefined && { secondFactorAtMs: profile.secondFactorAtMs }),
})

const profileFromSealed = (sealed: SealedProfile): ProviderProfile => ({
  provider: sealed.provider,
  issuer: sealed.issuer,
  subject: sealed.subject,
  email: sealed.email && { shown: sealed.email.shown, lower: sealed.email.lower },
  emailVerified: sealed.emailVerified,
  hostedDomain: sealed.hostedDomain,
  name: sealed.name,
  signedInAtMs: sealed.signedInAtMs,
  ...(sealed.secondFactorAtMs !== undefined && { secondFactorAtMs: sealed.secondFactorAtMs }),
})

const pendingLinkToSealed = ({ id, profile, userId, profileFetchedAtMs }: PendingLink): SealedPendingLink => ({
  id,
  vouched: profileToSealed(profile),
  userId,
  vouchedAtMs: profileFetchedAtMs,
})

const pendingLinkFromSealed = ({ id, vouched, userId, vouchedAtMs }: SealedPendingLink): PendingLink => ({
  id,
  profile: profileFromSealed(vouched),
  userId,
  profileFetchedAtMs: vouchedAtMs,
})

/** A link request as it is sealed into the "link account" page. */
export const linkRequestToSealed = ({ pendingLink, returnTo }: LinkRequest): SealedLinkRequest => ({
  ...pendingLinkToSealed(pendingLink),
  target: returnTo,
})

export const linkRequestFromSealed = ({ target, ...pendingLink }: SealedLinkRequest): LinkRequest => ({
  pendingLink: pendingLinkFromSealed(pendingLink),
  returnTo: target,
})

const entryToSealed = ({ purpose, token, proved }: NonNullable<AuthorizationFlow['entry']>) => ({
  purpose,
  token,
  ...(proved && { proved }),
})

const entryFromSealed = ({ purpose, token, proved }: NonNullable<SealedFlow['entry']>) => ({
  purpose,
  token,
  ...(proved && { proved }),
})

/** A flow as it is sealed into `state`. */
export const flowToSealed = (flow: AuthorizationFlow): SealedFlow => ({
  provider: flow.provider,
  intent: flow.intent,
  target: flow.returnTo,
  userId: flow.userId,
  ...(flow.acr && { acr: flow.acr }),
  ...(flow.entry && { entry: entryToSealed(flow.entry) }),
  pending: flow.pendingLink && pendingLinkToSealed(flow.pendingLink),
  id: flow.id,
  startedAtMs: flow.startedAtMs,
})

export const flowFromSealed = (sealed: SealedFlow): AuthorizationFlow => ({
  provider: sealed.provider,
  intent: sealed.intent,
  returnTo: sealed.target,
  userId: sealed.userId,
  ...(sealed.acr && { acr: sealed.acr }),
  ...(sealed.entry && { entry: entryFromSealed(sealed.entry) }),
  pendingLink: sealed.pending && pendingLinkFromSealed(sealed.pending),
  id: sealed.id,
  startedAtMs: sealed.startedAtMs,
})
