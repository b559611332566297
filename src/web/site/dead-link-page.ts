import type { DeadLinkView } from '../../http/frame.ts'
import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import type { IconName } from './icon.ts'
import type { Layout } from './layout.ts'

/** Creates the page of a link that is not good. It says what became of the link, and where there is a new one. */
export const createDeadLinkPage =
  (layout: Layout) =>
  ({ purpose, state }: DeadLinkView): string => {
    const { advice, button } = nextOf(layout)[purpose]
    return layout.panel({
      title: t(`dead_link.${state}`),
      sign: SIGNS[state],
      body: html`<p>${t(`dead_link.${state}_why`)}</p>
${
  advice &&
  html`<p>${advice}</p>
`
}<div class="steps">
${button && html`<a class="svc-button first" href="${button.href}">${button.text}</a>`}
<a class="svc-button ${button ? 'second' : 'first'}" href="/auth/login">${t('login.title')}</a>
</div>`,
    })
  }

const SIGNS: Record<DeadLinkView['state'], IconName> = {
  used: 'check',
  replaced: 'mail',
  ended: 'info',
  expired: 'clock',
  unknown: 'warning',
}

interface Next {
  /** This says what to do instead, if the button does not. */
  advice?: string | HtmlFragment
  /** If there is no button, nothing here helps. */
  button?: { text: string; href: string }
}

/** Finds the way to a new link, or to the purpose of the link. */
const nextOf = ({ mailIsOn, passwords, emailSignIn, support }: Layout): Record<DeadLinkView['purpose'], Next> => {
  const toAccount = { text: t('common.to_account'), href: '/auth/account' }
  const notMe = { advice: t(passwords ? 'dead_link.not_me' : 'dead_link.not_me_passwordless'), button: toAccount }
  return {
    reset: mailIsOn
      ? { button: { text: t('dead_link.reset_button'), href: '/auth/password/forgot' } }
      : { advice: t.html('dead_link.reset_support', { support: support.sentence() }) },
    verify: { advice: t('dead_link.verify'), button: toAccount },
    signup: { advice: t('dead_link.signup'), button: { text: t('login.create_account'), href: '/auth/signup' } },
    new_email: { advice: t('dead_link.new_email'), button: toAccount },
    undo: { advice: t.html('dead_link.undo', { support: support.sentence() }) },
    invite: { advice: t('dead_link.invite') },
    sign_in: emailSignIn ? { button: { text: t('dead_link.sign_in_button'), href: '/auth/login/email' } } : {},
    confirm: { button: toAccount },
    first_factor: { advice: t('dead_link.first'), button: toAccount },
    not_me: notMe,
    not_my_browser: notMe,
    not_my_passkey: notMe,
    not_my_second_factor: notMe,
    not_my_application: notMe,
  }
}
