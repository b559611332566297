import { type HtmlFragment, html } from '../../lib/html.ts'
import type { Layout } from '../layout.ts'
import { entryHref } from '../sign-in-links.ts'
import { resetTexts } from './reset-texts.ts'

interface Carried {
  /** As it was typed, or that of the account. */
  email: string
  returnTo?: string | undefined
}

/**
 * What a user can do who has forgotten the password: ask for a link or, while no mail is sent, ask the people who run
 * the service.
 */
export const forgotLink = ({ appName, mailIsOn, support }: Layout, { email, returnTo }: Carried): HtmlFragment =>
  html`<p class="about">${
    mailIsOn
      ? html`<a href="${entryHref('/auth/password/forgot', returnTo, email)}">${resetTexts.forgot}</a>`
      : support.link(`${resetTexts.forgot} ${resetTexts.askOperator(appName)}`)
  }</p>`
