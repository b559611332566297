import { type HtmlFragment, html } from '../../lib/html.ts'
import type { Layout } from './layout.ts'
import { t } from '../../languages/texts.ts'
import { entryHref } from './providers.ts'

interface Carried {
  /** This was typed, or is the address of the account. */
  email: string
  returnTo?: string | undefined
}

const forgotHref = ({ email, returnTo }: Carried): string => entryHref('/auth/password/forgot', returnTo, email)

const forgotText = ({ passwords }: Layout): string => t(passwords ? 'login.forgot' : 'login.forgot_passwordless')

/**
 * A user who has forgotten the password can ask for a link or, while no mail is sent, ask the people who run the
 * service.
 */
export const forgotLink = (layout: Layout, carried: Carried): HtmlFragment => {
  const { mailIsOn, passwords, support } = layout
  return html`<p class="about">${
    mailIsOn
      ? html`<a href="${forgotHref(carried)}">${forgotText(layout)}</a>`
      : t.html(passwords ? 'login.forgot_support' : 'login.trouble_support', { support: support.sentence() })
  }</p>`
}

/** Makes the link that stands beside the label of a password. While no mail is sent, `forgotLink` is below the form. */
export const forgotBeside = (layout: Layout, carried: Carried): HtmlFragment | undefined =>
  layout.mailIsOn
    ? html`<a class="aside" href="${forgotHref(carried)}">${forgotText(layout)}</a>
`
    : undefined

/** Makes the line that replaces that link. */
export const forgotBelow = (layout: Layout, carried: Carried): HtmlFragment | undefined =>
  layout.mailIsOn ? undefined : forgotLink(layout, carried)
