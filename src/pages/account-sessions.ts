import { type HtmlFragment, html } from '../lib/html.ts'
import { deviceName } from './device.ts'
import { csrfInput } from './form.ts'
import { texts } from './texts.ts'
import { agoOf, momentOf } from './time-text.ts'
import type { AccountView, SessionView } from './views.ts'

/** Screen readers and lists of buttons name the session, since several of a user can be of the same device. */
const endButton = ({ id, lastSeenAtMs }: SessionView, device: string): HtmlFragment =>
  html`<button class="second" name="session_id" value="${id}">${texts.endSession}<span class="unseen"> ${texts.endSessionOf(device)} ${momentOf(lastSeenAtMs)}</span></button>`

const row = (session: SessionView, nowMs: number): HtmlFragment => {
  const device = deviceName(session.userAgent)
  return html`<li>
<div>
<p><b>${device}</b>${session.current && html` <span class="badge">${texts.thisSession}</span>`}</p>
<p class="about">${texts.lastSeen} ${agoOf(session.lastSeenAtMs, nowMs)} · ${session.address}<br>
${texts.loggedInSince} ${momentOf(session.createdAtMs)}</p>
</div>
${session.current ? undefined : endButton(session, device)}
</li>
`
}

/** The list of sessions: one form with a button for each session. */
export const sessionsSection = ({ csrfToken, sessions, moreSessions, nowMs }: AccountView): HtmlFragment =>
  html`<form method="post" action="/auth/account/sessions">
${csrfInput(csrfToken)}
<ul class="sessions">
${sessions.map((session) => row(session, nowMs))}</ul>
${moreSessions > 0 && html`<p class="about">${texts.moreSessions(moreSessions)}</p>`}
${
  sessions.some((session) => !session.current) &&
  html`<button class="second" name="all_others" value="1">${texts.endOtherSessions}</button>`
}
</form>`
