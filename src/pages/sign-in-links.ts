import { readEmail } from '../lib/email-address.ts'
import { type HtmlFragment, html } from '../lib/html.ts'
import { returnToInput } from './form.ts'
import { orLine, providerButtons } from './provider-buttons.ts'
import { texts } from './texts.ts'
import type { LoginView } from './views.ts'

/**
 * A link between the pages of login, signup and forgotten passwords. It keeps `return_to`, and the email if it is one:
 * anything else that was typed stays out of addresses, which proxies log and browsers remember.
 */
export const entryHref = (
  path: '/auth/login' | '/auth/signup' | '/auth/password/forgot',
  returnTo: string | undefined,
  email = '',
): string => {
  const fields: string[] = []
  const address = readEmail(email)
  // A query may contain @ (RFC 3986 section 3.4), and is easier to read with it.
  if (address) fields.push(`email=${encodeURIComponent(address.shown).replace('%40', '@')}`)
  if (returnTo !== undefined) fields.push(`return_to=${encodeURIComponent(returnTo.toWellFormed())}`)
  return fields.length === 0 ? path : `${path}?${fields.join('&')}`
}

/** Below a page of a user who is signed in, other than the account page. */
export const accountLinks = (): HtmlFragment =>
  html`<a href="/auth/account">${texts.backToAccount}</a> · <a href="/auth/logout">${texts.logOut}</a>`

/** For a form that is older than a login in another tab: the login page leads a signed-in user on. */
export const wayOn = ({ problem, returnTo }: Pick<LoginView, 'problem' | 'returnTo'>): HtmlFragment | undefined =>
  problem?.kind === 'outdated'
    ? html`<p class="about">${texts.loggedInElsewhere} <a href="${entryHref('/auth/login', returnTo)}">${texts.goOn}</a></p>`
    : undefined

/** The buttons of the external providers, below the form if there is one; empty without providers. */
export const providerForms = (
  { csrfToken, providers, returnTo }: Pick<LoginView, 'providers' | 'csrfToken' | 'returnTo'>,
  isBelowForm = true,
): HtmlFragment | undefined => {
  const hiddenInputs = returnToInput(returnTo)
  const buttons = providerButtons({ csrfToken, providers, hiddenInputs, words: texts.continueWith })
  return buttons && html`${isBelowForm && orLine()}${buttons}`
}
