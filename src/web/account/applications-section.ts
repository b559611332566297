import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { csrfInput } from '../site/form.ts'
import { icon } from '../site/icon.ts'
import { agoOf, dayOf } from '../site/time-text.ts'
import type { AccountRow, Section } from './rows.ts'

/** A client has access to the account, by one grant or several. */
export interface ApplicationView {
  clientId: string
  name: string
  /** It says where the client lives: a host, or a program of the user's. */
  place: string
  scopes: readonly string[]
  sinceMs: number
  lastUsedMs: number
}

interface Listed {
  csrfToken: string
  nowMs: number
  applications?: readonly ApplicationView[] | undefined
}

const ACTION = '/auth/account/applications'

const applicationRow = (
  { clientId, name, place, scopes, sinceMs, lastUsedMs }: ApplicationView,
  { csrfToken, nowMs }: Listed,
): AccountRow => ({
  icon: icon('app'),
  title: name,
  state: html`${place}<br>
${
  scopes.length > 0 &&
  html`${scopes.join(' · ')}<br>
`
}${t.html('account.applications.since', { date: dayOf(sinceMs), when: agoOf(lastUsedMs, nowMs) })}`,
  action: {
    kind: 'sends',
    form: html`<form method="post" action="${ACTION}">
${csrfInput(csrfToken)}<button class="svc-button second small" name="client_id" value="${clientId}" aria-label="${t('account.applications.disconnect_label', { name })}">${t('account.applications.disconnect')}</button>
</form>`,
  },
})

/** It stands beside the logout of all devices too: it is looked for there after a theft. */
export const disconnectAllForm = ({ csrfToken, applications = [] }: Listed): HtmlFragment | undefined =>
  applications.length > 0
    ? html`<form method="post" action="${ACTION}">
${csrfInput(csrfToken)}<button class="svc-button second small" name="all" value="1">${t('account.applications.disconnect_all')}</button>
</form>`
    : undefined

/** The section is there while the OAuth server is on. */
export const applicationsSection = (listed: Listed): Section | undefined => {
  const { applications } = listed
  if (!applications) return undefined
  return {
    id: 'applications',
    title: t('account.applications.title'),
    formerId: 'connected',
    rows: applications.map((one) => applicationRow(one, listed)),
    foot:
      applications.length === 0
        ? html`<p class="foot about">${t('account.applications.none')}</p>`
        : html`<div class="foot">
${disconnectAllForm(listed)}
</div>`,
  }
}
