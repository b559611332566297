import { type HtmlFragment, html } from '../../lib/html.ts'
import type { Layout } from '../layout.ts'
import { resetTexts } from './reset-texts.ts'

interface Carried {
  /** As it was typed, or that of the account. */
  email: string
  returnTo?: string | undefined
}

const forgotHref = ({ email, returnTo }: Carried): string => {
  const query = new URLSearchParams()
  if (email !== '') query.set('email', email)
  if (returnTo !== undefined) query.set('return_to', returnTo)
  return query.size === 0 ? '/auth/password/forgot' : `/auth/password/forgot?${query.toString()}`
}

/**
 * What a user can do who has forgotten the password: ask for a link or, while no mail is sent, ask the people who run
 * the service.
 */
export const forgotLink = ({ appName, mailIsOn, support }: Layout, carried: Carried): HtmlFragment =>
  html`<p class="about">${
    mailIsOn
      ? html`<a href="${forgotHref(carried)}">${resetTexts.forgot}</a>`
      : support.link(`${resetTexts.forgot} ${resetTexts.askOperator(appName)}`)
  }</p>`
