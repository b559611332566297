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
      title: own.checkMail,
      sign: 'mail',
      below: html`<a href="${entryHref('/auth/login', returnTo, email)}">${own.backToLogin}</a>`,
      body: html`<p>${own.sentTo} <b>${email}</b>. ${after === 'signup' ? own.sentAfterSignup : own.sentAfterLogin} ${own.sameBrowser}</p>
<p class="about">${layout.support.text(own.sentAdvice(layout.appName))}</p>
${after === 'signup' && html`<a class="second" href="${entryHref('/auth/signup', returnTo, email)}">${own.signupAgain}</a>`}`,
    })

const own = {
  checkMail: 'Check your mail',
  sentTo: 'We have sent a message to',
  sentAfterSignup: 'Open the link in it to go on. Your account is made then.',
  sentAfterLogin: 'Open the link in it to go on. You are logged in then.',
  sentAdvice: (appName: string): string =>
    `Nothing there after a few minutes? Look among the spam. If that does not help, ask whoever runs ${appName}.`,
  sameBrowser: 'It is easiest in this browser, on this device.',
  signupAgain: 'Send it again, or use another address',
  backToLogin: 'Back to login',
} as const
