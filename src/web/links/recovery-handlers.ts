import type { RouteDeps } from '../../http/deps.ts'
import { onDemand } from '../../lib/on-demand.ts'
import { withPages } from '../site/with-pages.ts'

const FORM = ['show', 'submit', 'showAgain'] as const

/** The handlers of links, and of the forms that ask for one. */
export const createRecoveryHandlers = (deps: RouteDeps) => ({
  forgotPassword: onDemand(
    async () => (await import('./forgot-password.ts')).createForgotPassword(await withPages(deps)),
    ...FORM,
  ),
  resetPassword: onDemand(
    async () => (await import('./reset-password.ts')).createResetPassword(await withPages(deps)),
    ...FORM,
  ),
  notMe: onDemand(async () => (await import('./not-me.ts')).createNotMeLink(await withPages(deps)), ...FORM),
  invitation: onDemand(async () => (await import('./invitation.ts')).createInvitation(await withPages(deps)), ...FORM),
  verifyEmail: onDemand(
    async () => (await import('./verify-email.ts')).createVerifyEmail(await withPages(deps)),
    ...FORM,
  ),
  undoEmail: onDemand(async () => (await import('./undo-email.ts')).createUndoEmail(await withPages(deps)), ...FORM),
  firstFactor: onDemand(
    async () => (await import('../second-factor/first-factor.ts')).createFirstFactorLink(await withPages(deps)),
    ...FORM,
  ),
  otherWaysIn: onDemand(
    async () => (await import('../sign-in/other-ways-in.ts')).createOtherWaysIn(await withPages(deps)),
    'show',
  ),
  sendVerification: onDemand(
    async () => ({
      submit: (await import('../account/send-verification.ts')).createSendVerification(await withPages(deps)),
    }),
    'submit',
  ),
})
