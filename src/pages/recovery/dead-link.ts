import { html } from '../../lib/html.ts'
import type { Layout } from '../layout.ts'
import { texts } from '../texts.ts'
import { deadLinkTexts } from './dead-link-texts.ts'
import type { DeadLinkView } from './views.ts'

/** The page of a link that is not good: what became of it, and where there is a new one. */
export const createDeadLinkPage = (layout: Layout) => {
  const { appName, support, mailIsOn, passwords } = layout
  const next = deadLinkTexts.next(appName, passwords)
  const resetWithoutMail = { advice: deadLinkTexts.resetWithoutMail(appName, passwords), button: undefined }

  return ({ purpose, state }: DeadLinkView): string => {
    const { title, why } = deadLinkTexts.reasons[state]
    const { advice, button } = purpose === 'reset' && !mailIsOn ? resetWithoutMail : next[purpose]
    return layout.panel({
      title,
      body: html`<p>${why}</p>
<p>${support.text(advice)}</p>
<div class="steps">
${button && html`<a class="first" href="${button.href}">${button.words}</a>`}
<a class="${button ? 'second' : 'first'}" href="/auth/login">${texts.logIn}</a>
</div>`,
    })
  }
}
