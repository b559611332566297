import { t } from '../../languages/texts.ts'
import { knownDevice } from '../../lib/device.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { deviceName } from '../site/device.ts'
import { csrfInput, returnToInput } from '../site/form.ts'
import { icon } from '../site/icon.ts'
import { agoOf, momentOf } from '../site/time-text.ts'
import type { SessionView } from './account-view.ts'
import { type ApplicationView, disconnectAllForm } from './applications-section.ts'
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
${csrfInput(csrfToken)}${returnToInput(returnTo)}<button class="svc-button second small" name="session_id" value="${id}"><span aria-hidden="true">${t('account.devices.log_out')}</span><span class="unseen">${t.html('account.devices.log_out_label', { device, when: momentOf(lastSeenAtMs) })}</span></button>
</form>`

export const deviceRow = (session: SessionView, listed: Listed): AccountRow => {
  const { userAgent, address, lastSeenAtMs, createdAtMs, current } = session
  const device = deviceName(userAgent)
  const when = current ? t('common.just_now') : agoOf(lastSeenAtMs, listed.nowMs)
  const isAlone = listed.returnTo !== undefined
  return {
    icon: iconOf(userAgent),
    title: device,
    badge: current ? { text: t('account.devices.this') } : undefined,
    state: html`${t.html('account.devices.active', { when })} · ${address}${
      isAlone &&
      html`<br>
${t.html('account.devices.since', { date: momentOf(createdAtMs) })}`
    }`,
    action: current ? undefined : { kind: 'sends', form: endForm(session, device, listed) },
  }
}

export const endOthersForm = ({ csrfToken, returnTo }: Listed): HtmlFragment =>
  html`<form method="post" action="/auth/account/sessions">
${csrfInput(csrfToken)}${returnToInput(returnTo)}<button class="svc-button second small" name="all_others" value="1">${t('account.devices.log_out_others')}</button>
</form>`

interface Shown extends Listed {
  sessions: readonly SessionView[]
  moreSessions: number
  applications?: readonly ApplicationView[] | undefined
}

/** The section shows some devices, and leads to the page of all. */
export const devicesSection = (shown: Shown): Section => {
  const { sessions, moreSessions } = shown
  const hasOthers = moreSessions > 0 || sessions.some(({ current }) => !current)
  return {
    id: 'devices',
    title: t('account.devices.title'),
    formerId: 'sessions',
    rows: sessions.map((session) => deviceRow(session, shown)),
    foot: hasOthers
      ? html`<div class="foot">
<a href="/auth/account/devices">${moreSessions > 0 ? t.plural('account.devices.more', moreSessions) : t('account.devices.show_more')}</a>
<div class="ways">
${disconnectAllForm(shown)}${endOthersForm(shown)}
</div>
</div>`
      : undefined,
  }
}
