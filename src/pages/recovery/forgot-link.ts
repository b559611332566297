import { type HtmlFragment, html } from '../../lib/html.ts'
import type { Layout } from '../layout.ts'
import { entryHref } from '../sign-in-links.ts'
import { resetTextsOf } from './reset-texts.ts'

interface Carried {
  /** As it was typed, or that of the account. */
  email: string
  returnTo?: string | undefined
}

/**
 * What a user can do who has forgotten the password: ask for a link or, while no mail is sent, ask the people who run
 * the service.
 */
export const forgotLink = (layout: Layout, { email, returnTo }: Carried): HtmlFragment => {
  const { appName, mailIsOn, support } = layout
  const words = resetTextsOf(layout)
  return html`<p class="about">${
    mailIsOn
      ? html`<a href="${entryHref('/auth/password/forgot', returnTo, email)}">${words.forgot}</a>`
      : support.link(`${words.forgot} ${words.askOperator(appName)}`)
  }</p>`
}
