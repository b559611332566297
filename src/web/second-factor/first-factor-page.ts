import { type HtmlFragment, html } from '../../lib/html.ts'
import type { FormProblem } from '../../http/form-view.ts'
import { csrfInput, returnToInput, tokenInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { accountLinks } from '../site/providers.ts'

const words = {
  titles: {
    ask: 'First, a message to you',
    sent: 'Check your mail',
    prove: 'Was it you?',
    other_browser: 'Open the link in the other browser',
  },
  askAbout: 'Before you set this up, we send a link to',
  askThen: 'Open it in this browser, and you can go on here.',
  askWhy:
    'From then on, what you set up is asked for. So that nobody else sets it up who only knows your password, the link comes first in a browser that you have used for less than three days.',
  send: 'Send me the link',
  sentTo: 'We have sent a link to',
  sentAbout: 'Open it in this browser, within half an hour, and you can go on.',
  sentAdvice: (appName: string): string =>
    `Nothing there after a few minutes? Look among the spam. If that does not help, ask whoever runs ${appName}.`,
  sendAgain: 'Send it again',
  proveAbout: 'You opened the link in our message. Go on if it was you who asked for it.',
  proveButton: 'It was me, go on',
  otherBrowserAbout:
    'This link works only in the browser in which it was asked for. Copy its address from the message, and open it there.',
  notYou: (appName: string): string =>
    `If you did not ask for it, someone else is logged in to your account: change your password at once, or ask whoever runs ${appName}.`,
}

/** The page comes before the first second factor or passkey: the link is offered, is on its way, or was opened. */
export interface FirstFactorView {
  csrfToken: string
  step: 'ask' | 'sent' | 'prove' | 'other_browser'
  /** The link is sent there. */
  email?: string | undefined
  returnTo?: string | undefined
  token?: string | undefined
  problem?: FormProblem | undefined
}

const form = (view: FirstFactorView, style: 'first' | 'second', label: string): HtmlFragment =>
  html`<form method="post" action="/auth/account/first-factor">
${csrfInput(view.csrfToken)}${returnToInput(view.returnTo)}${view.token !== undefined && tokenInput(view.token)}
<button class="${style}">${label}</button>
</form>
`

const bodyOf = (view: FirstFactorView, { appName, support }: Layout): HtmlFragment => {
  const { step, email = '' } = view
  if (step === 'prove')
    return html`<p>${words.proveAbout}</p>
${form(view, 'first', words.proveButton)}`
  if (step === 'other_browser')
    return html`<p>${words.otherBrowserAbout}</p>
<p>${support.text(words.notYou(appName))}</p>`
  if (step === 'sent')
    return html`<p>${words.sentTo} <b>${email}</b>. ${words.sentAbout}</p>
<p class="about">${support.text(words.sentAdvice(appName))}</p>
${form(view, 'second', words.sendAgain)}`
  return html`<p>${words.askAbout} <b>${email}</b>. ${words.askThen}</p>
<p class="about">${words.askWhy}</p>
${form(view, 'first', words.send)}`
}

/** Creates the page of the link that comes before a first second factor or passkey. */
export const createFirstFactorPage =
  (layout: Layout) =>
  (view: FirstFactorView): string =>
    layout.panel({
      title: words.titles[view.step],
      sign: view.step === 'other_browser' ? 'warning' : 'mail',
      problem: view.problem,
      focusesProblem: true,
      below: accountLinks(),
      body: bodyOf(view, layout),
    })
