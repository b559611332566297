import { knownDevice } from '../../lib/device.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { deviceName } from '../site/device.ts'
import { csrfInput, returnToInput } from '../site/form.ts'
import { icon } from '../site/icon.ts'
import { agoOf, momentOf } from '../site/time-text.ts'
import type { SessionView } from './account-view.ts'
import type { AccountRow, Section } from './rows.ts'

/** A list of devices, on the account page or on a page of its own, to which the forms then lead back. */
interface Listed {
  csrfToken: string
  nowMs: number
  returnTo?: string | undefined
}

const PHONES: readonly (string | undefined)[] = ['iPhone', 'iPad', 'Android']

const iconOf = (userAgent: string): HtmlFragment => {
  const { browser, system } = knownDevice(userAgent)
  if (PHONES.includes(system)) return icon('phone')
  return icon(browser || system ? 'laptop' : 'terminal')
}

/** Screen readers and lists of buttons name the device, since a user can have several of one kind. */
const endForm = ({ id, lastSeenAtMs }: SessionView, device: string, { csrfToken, returnTo }: Listed): HtmlFragment =>
  html`<form method="post" action="/auth/account/sessions">
${csrfInput(csrfToken)}${returnToInput(returnTo)}<button class="second small" name="session_id" value="${id}">${deviceTexts.end(device, momentOf(lastSeenAtMs))}</button>
</form>`

export const deviceRow = (session: SessionView, listed: Listed): AccountRow => {
  const { userAgent, address, lastSeenAtMs, createdAtMs, current } = session
  const device = deviceName(userAgent)
  const seen = current ? deviceTexts.activeNow : deviceTexts.lastSeen(agoOf(lastSeenAtMs, listed.nowMs))
  const isAlone = listed.returnTo !== undefined
  return {
    icon: iconOf(userAgent),
    title: device,
    badge: current ? { text: deviceTexts.current } : undefined,
    state: html`${seen} · ${address}${
      isAlone &&
      html`<br>
${deviceTexts.since(momentOf(createdAtMs))}`
    }`,
    action: current ? undefined : { kind: 'sends', form: endForm(session, device, listed) },
  }
}

export const endOthersForm = ({ csrfToken, returnTo }: Listed): HtmlFragment =>
  html`<form method="post" action="/auth/account/sessions">
${csrfInput(csrfToken)}${returnToInput(returnTo)}<button class="second small" name="all_others" value="1">${deviceTexts.endOthers}</button>
</form>`

interface Shown extends Listed {
  sessions: readonly SessionView[]
  moreSessions: number
}

/** The section shows some devices, and leads to the page of all. */
export const devicesSection = (shown: Shown): Section => {
  const { sessions, moreSessions } = shown
  const hasOthers = moreSessions > 0 || sessions.some(({ current }) => !current)
  return {
    id: 'devices',
    title: deviceTexts.title,
    formerId: 'sessions',
    rows: sessions.map((session) => deviceRow(session, shown)),
    foot: hasOthers
      ? html`<div class="foot">
<a href="/auth/account/devices">${moreSessions > 0 ? deviceTexts.showAll(sessions.length + moreSessions) : deviceTexts.showMore}</a>
${endOthersForm(shown)}
</div>`
      : undefined,
  }
}

export const deviceTexts = {
  title: 'Devices',
  about: 'Where you are logged in. Log out what you don’t recognise, then change your password.',
  aboutProviders:
    'Where you are logged in. Log out what you don’t recognise, then change the password of what you log in with.',
  current: 'This device',
  activeNow: 'Active now',
  lastSeen: (ago: HtmlFragment): HtmlFragment => html`Last seen ${ago}`,
  since: (moment: HtmlFragment): HtmlFragment => html`Logged in ${moment}`,
  end: (device: string, moment: HtmlFragment): HtmlFragment =>
    html`Log out<span class="unseen"> ${device}, last seen ${moment}</span>`,
  endOthers: 'Log out all others',
  showMore: 'Show more',
  showAll: (count: number): string => `Show all ${count}`,
} as const
