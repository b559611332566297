import { type HtmlFragment, html } from '../../lib/html.ts'
import type { Layout } from '../../web/site/layout.ts'
import { momentOf } from '../../web/site/time-text.ts'
import { DEV_USERS, type DevUser } from '../given.ts'
import { devPage, panel, row, sendButton } from './dev-page.ts'

export interface HomeView {
  /** The email of the user whose browser asks; undefined for one who is signed out. */
  email: string | undefined
  roles: readonly string[]
  baseUrl: string
  /** The address of the application; undefined: there is none, and `/` leads here. */
  app: string | undefined
  /** Events are passed on there. */
  passOnTo: string | undefined
  apiKey: string
  webhookSecret: string
  messages: number
  webhooks: number
  /** The clock of the service, and whether it was moved. */
  nowMs: number
  isMoved: boolean
}

/** Shows who is signed in, and leads to everything that there is. */
export const homePage = (layout: Layout, view: HomeView): string =>
  devPage(layout, {
    title: 'svc dev',
    at: '/auth/dev',
    body: html`<p class="about">${view.app === undefined ? 'There is no application yet: start svc dev with --app and its address.' : html`The application at ${view.app} is at <a href="/">${view.baseUrl}</a>.`}</p>
<section>
<h2>Who is signed in</h2>
${panel([signedIn(view), ...DEV_USERS.map((user) => userRow(user, view))], '')}
</section>
<section>
<h2>Pages</h2>
${panel(pageRows(view), '')}
</section>
<section>
<h2>The clock</h2>
${panel([clockRow(view)], '')}
</section>
<section>
<h2>For the application and its tests</h2>
${panel(settingRows(view), '')}
</section>`,
  })

const signedIn = ({ email, roles }: HomeView): HtmlFragment =>
  email === undefined
    ? row(
        html`<b>Nobody</b>`,
        html`<a class="svc-button second small" href="/auth/login?return_to=%2Fauth%2Fdev">Log in</a>`,
      )
    : row(
        html`<b>${email}</b>${roles.map((role) => html` <span class="badge plain">${role}</span>`)}`,
        html`<a class="svc-button second small" href="/auth/logout">Log out</a>`,
      )

const userRow = ({ email, password }: DevUser, view: HomeView): HtmlFragment =>
  row(
    html`${email} <span class="about">Password at the start: ${password}</span>`,
    email === view.email
      ? undefined
      : sendButton('Sign in', { to: '/auth/dev/sign-in', body: { email }, next: '/auth/dev' }),
  )

const linkRow = (href: string, name: string, about: string): HtmlFragment =>
  row(html`<a href="${href}"><b>${name}</b></a> <span class="about">${about}</span>`)

const pageRows = ({ messages, webhooks, passOnTo }: HomeView): HtmlFragment[] => [
  linkRow('/auth/dev/mail', 'Mailbox', `Every message that svc sends: ${messages} so far.`),
  linkRow(
    '/auth/dev/webhooks',
    'Webhooks',
    `Every event that svc sends: ${webhooks} so far${passOnTo === undefined ? '' : `, passed on to ${passOnTo}`}.`,
  ),
  linkRow('/auth/signup', 'Sign up', 'Creates an account. Any address is good: its mail arrives in the mailbox.'),
  linkRow(
    '/auth/login',
    'Log in',
    'With the password, a passkey, or the Dev Provider, which lets you choose who you are.',
  ),
  linkRow('/auth/account', 'Account', 'Passkeys, two-step verification, devices and activity.'),
]

const HOURS = [
  ['15 minutes', '15m'],
  ['1 day', '24h'],
  ['30 days', '720h'],
] as const

const clockRow = ({ nowMs, isMoved }: HomeView): HtmlFragment =>
  row(
    html`<b>${momentOf(nowMs)}</b> <span class="about">${isMoved ? 'It was moved forward.' : 'It is right.'}</span>`,
    html`<div class="ways">${HOURS.map(([words, forward]) => sendButton(`+ ${words}`, { to: '/auth/dev/clock', body: { forward } }))}
${sendButton('Reset everything', { to: '/auth/dev/reset' })}</div>`,
  )

const settingRows = ({ baseUrl, apiKey, webhookSecret }: HomeView): HtmlFragment[] =>
  Object.entries({ SVC_URL: baseUrl, SVC_API_KEY: apiKey, SVC_WEBHOOK_SECRET: webhookSecret }).map(([name, value]) =>
    row(html`<b>${name}</b> <code class="about">${value}</code>`),
  )
