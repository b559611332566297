import { t } from '../../languages/texts.ts'
import { html } from '../../lib/html.ts'
import type { Layout } from '../site/layout.ts'
import { entryHref } from '../site/providers.ts'

/** This page follows a signup or a login whose email has to be proved first. */
export interface CheckMailView {
  /** This is the text that was typed. */
  email: string
  /** After a signup the user may have typed a wrong address; after a login it is the address of the account. */
  after: 'signup' | 'login'
  returnTo: string | undefined
}

/**
 * This page follows a signup, and is the same whether or not the address has an account. It also follows a login that
 * waits for the confirmation.
 */
export const createCheckMailPage =
  (layout: Layout) =>
  ({ email, after, returnTo }: CheckMailView): string =>
    layout.panel({
      title: t('check_mail.title'),
      sign: 'mail',
      below: html`<a href="${entryHref('/auth/login', returnTo, email)}">${t('common.back_to_login')}</a>`,
      body: html`<p>${t.html(after === 'signup' ? 'verify.sent_signup' : 'verify.sent_login', { email: html`<b>${email}</b>` })}</p>
<p class="about">${t.html('check_mail.nothing', { support: layout.support.sentence() })}</p>
${after === 'signup' && html`<a class="svc-button second" href="${entryHref('/auth/signup', returnTo, email)}">${t('verify.again')}</a>`}`,
    })
