import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { accountDone } from '../site/account-done.ts'
import { initialOf } from '../site/assets.ts'
import { csrfInput, formProblem, notice } from '../site/form.ts'
import { icon } from '../site/icon.ts'
import type { Layout } from '../site/layout.ts'
import { dayOf } from '../site/time-text.ts'
import { type AccountView, type Focus, focusOf } from './account-view.ts'
import { activitySection } from './activity-section.ts'
import { applicationsSection } from './applications-section.ts'
import { deleteSection } from './delete-section.ts'
import { devicesSection } from './devices-section.ts'
import { hasPassword } from './password-row.ts'
import { profileSection } from './profile-section.ts'
import { contents, type Section, section } from './rows.ts'
import { signingInSection } from './signing-in-section.ts'
import { twoStepSection } from './two-step-section.ts'

interface Sheet {
  csrfToken: string
  email: string
  nav?: HtmlFragment | undefined
  /** This leads to where the user has come from. */
  back: HtmlFragment
  body: HtmlFragment
}

/** Lays out a page of a user's account. */
export const sheet = ({ csrfToken, email, nav, back, body }: Sheet, { brand }: Layout): HtmlFragment =>
  html`<div class="sheet">
<header class="bar">
${brand}
<form method="post" action="/auth/logout">
${csrfInput(csrfToken)}<span>${email}</span>
<button class="svc-button second small">${t('logout.button')}</button>
</form>
</header>
${nav}<main>
<p class="back">${back}</p>
${body}</main>
</div>`

export const backLink = (href: string, words: string): HtmlFragment =>
  html`<a href="${href}">${icon('back')}${words}</a>`

/** Makes all sections, in the order of the page. */
const sectionsOf = (view: AccountView, focus: Focus, layout: Layout): Section[] =>
  [
    profileSection(view, focus, layout),
    signingInSection(view, focus, layout),
    view.secondFactor && twoStepSection(view.secondFactor),
    devicesSection(view),
    applicationsSection(view),
    activitySection({ ...view, hasPassword: hasPassword(view) }),
    deleteSection(view, focus),
  ].filter((one) => one !== undefined)

const heading = ({ user }: AccountView): HtmlFragment => html`<div class="who">
<span class="mark" aria-hidden="true">${initialOf(user.email)}</span>
<div>
<h1>${t('account.title')}</h1>
<p class="about">${user.email} · ${t.html('account.member_since', { date: dayOf(user.createdAtMs) })}</p>
</div>
</div>
`

/** This line above the sections offers a first passkey. */
const passkeyOffer = ({ passkeys }: AccountView): HtmlFragment | undefined =>
  passkeys?.offer === undefined
    ? undefined
    : html`<p class="svc-card panel offer">${t(passkeys.offer === 'after_mail' ? 'passkeys.offer_by_mail' : 'passkeys.offer')} <a href="#passkeys">${t('passkeys.add')}</a></p>
`

/** Creates the account page, which shows the account in rows. */
export const createAccountPage =
  (layout: Layout) =>
  (view: AccountView): string => {
    const focus = focusOf(view)
    const sections = sectionsOf(view, focus, layout)
    const place = messageSectionOf(view, sections)
    const message = formProblem(view.problem, focus === undefined) ?? notice(doneText(view))
    return layout.document({
      title: t('account.title'),
      wrong: Boolean(view.problem ?? focus),
      rows: true,
      passkeys: view.passkeys !== undefined,
      body: sheet(
        {
          csrfToken: view.csrfToken,
          email: view.user.email,
          nav: contents(sections),
          back: backLink(layout.homeUrl, t('account.back_to_app', { app: layout.appName })),
          body: html`${heading(view)}${!place && message}${passkeyOffer(view)}${sections.map((one) => section(one === place ? { ...one, message } : one))}`,
        },
        layout,
      ),
    })
  }

/** After a password change, users should check what else is connected to their account. */
const doneText = ({ done, signIn }: AccountView): string | undefined => {
  if (done === 'password' && signIn?.linked.length) return t('account.done.password_review')
  return done && t(`account.done.${done}`)
}

/** Finds the section that says what was done, or what is wrong; if it is undefined, the top of the page says so. */
const messageSectionOf = ({ done, at }: AccountView, sections: readonly Section[]): Section | undefined => {
  const own = (done && accountDone[done]) ?? at
  return sections.find(
    ({ id, formerId, rows }) =>
      id === own ||
      formerId === own ||
      rows.some((row) => row.id === own || (row.id === 'set-password' && own === 'change-password')),
  )
}
