import { type TextKey, t } from '../../languages/texts.ts'
import type { AskedFactorView } from '../sign-in/asked-factor.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { bold } from '../site/bold.ts'
import type { NOT_ME_PURPOSES } from '../../links/link.ts'
import type { FormView } from '../../http/form-view.ts'
import { accessEnds, consequences, leavesLine } from '../site/consequences.ts'
import { chosenPassword, csrfInput, ownerInput, tokenInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { type LinkFormErrors, formEnd, signOf, usesPasskeys, wrongFieldOf } from './asked-factor-fields.ts'

/** This is the page behind "This wasn't me": a user was told of something that they did not do. */
export interface NotMeView extends FormView {
  token: string
  /** This is the address of the account. */
  email: string
  purpose: (typeof NOT_ME_PURPOSES)[number]
  /** This is the label of the provider that was connected, if the message is about one. */
  provider: string
  /** This tells whether a new password is chosen here. If not, the user goes on to another page. */
  setsPassword: boolean
  /** This is the address of another account that is signed in in this browser. */
  otherEmail: string | undefined
  factor?: AskedFactorView | undefined
  errors: LinkFormErrors
}

interface Words {
  /** This says what the user was told of. */
  happened: TextKey
  /** This says what the button removes. */
  removes?: TextKey
}

const WORDS: Record<NotMeView['purpose'], Words> = {
  not_me: { happened: 'not_me.provider', removes: 'not_me.removes_provider' },
  not_my_browser: { happened: 'not_me.device' },
  not_my_passkey: { happened: 'not_me.passkey', removes: 'not_me.removes_passkey' },
  not_my_second_factor: { happened: 'not_me.app', removes: 'not_me.removes_app' },
  not_my_application: { happened: 'not_me.application' },
}

const nextStep = ({ passwords }: Layout, { setsPassword }: NotMeView): string => {
  if (setsPassword) return t('link.ends_password')
  return t(passwords ? 'not_me.next_password' : 'not_me.next_ways')
}

const passwordField = ({ passwordMinLength }: Layout, { email, errors }: NotMeView): HtmlFragment =>
  html`${ownerInput(email)}
${chosenPassword({ problem: errors.password, focused: Boolean(errors.password), minLength: passwordMinLength })}`

/** The page behind "This wasn't me" names the account and what happened above the button. */
export const createNotMePage =
  (layout: Layout) =>
  (view: NotMeView): string => {
    const { csrfToken, token, email, purpose, provider, setsPassword, otherEmail, problem } = view
    const { happened, removes } = WORDS[purpose]
    const button = t(setsPassword ? 'not_me.button_password' : 'not_me.button')
    return layout.panel({
      title: t('common.was_this_you'),
      sign: signOf(view, setsPassword),
      wrong: Boolean(problem ?? wrongFieldOf(view)),
      problem,
      focusesProblem: !wrongFieldOf(view),
      passkeys: usesPasskeys(layout, { ...view, providers: undefined }),
      body: html`<p>${t.html(happened, { provider: bold(provider), email: bold(email) })}</p>
<p>${t('not_me.about')}</p>
${consequences([removes && t(removes, { provider }), ...accessEnds(layout), nextStep(layout, view)])}
${leavesLine(otherEmail)}
<form method="post" action="/auth/account/not-me" novalidate>
${csrfInput(csrfToken)}${tokenInput(token)}
${setsPassword && passwordField(layout, view)}
${formEnd(layout, view, html`<button class="svc-button first">${button}</button>`)}
</form>
<p class="hint">${t('not_me.otherwise')}</p>`,
    })
  }
