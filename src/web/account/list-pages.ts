import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import type { AccountDone } from '../site/account-done.ts'
import { notice } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { backLink, sheet } from './account-page.ts'
import type { ActivityView, SessionView } from './account-view.ts'
import { activityItem, notMe } from './activity-section.ts'
import { deviceRow, endOthersForm } from './devices-section.ts'
import { rowItem } from './rows.ts'

export const DEVICES_PATH = '/auth/account/devices'
const ACTIVITY_PATH = '/auth/account/activity'

/** A page of a list of the account. */
interface ListView {
  csrfToken: string
  email: string
  nowMs: number
  /** This tells whether it is a later page. */
  isLater: boolean
  nextCursor: string | undefined
  /** This tells whether the user has a password to change. */
  hasPassword: boolean
}

export interface DevicesView extends ListView {
  sessions: readonly SessionView[]
  done?: AccountDone | undefined
}

export interface ActivityPageView extends ListView {
  activity: readonly ActivityView[]
}

/** A list goes on in one direction: from the newest, where it can begin once more. */
const pager = (path: string, { isLater, nextCursor }: ListView): HtmlFragment | undefined =>
  isLater || nextCursor !== undefined
    ? html`<nav class="ways" aria-label="${t('account.paging.title')}">
${
  isLater &&
  html`<a class="svc-button second small" href="${path}">${t('account.paging.newest')}</a>
`
}${
  nextCursor !== undefined &&
  html`<a class="svc-button second small" rel="next" href="${path}?cursor=${encodeURIComponent(nextCursor.toWellFormed())}">${t('account.paging.older')}</a>
`
}</nav>
`
    : undefined

interface Listed {
  title: string
  about?: string
  message?: HtmlFragment | undefined
  items: readonly HtmlFragment[]
  foot: HtmlFragment | undefined
  pages: HtmlFragment | undefined
}

const listPage = (layout: Layout, view: ListView, { title, about, message, items, foot, pages }: Listed): string =>
  layout.document({
    title,
    rows: true,
    body: sheet(
      {
        ...view,
        back: backLink('/auth/account', t('common.back_to_account')),
        body: html`<h1>${title}</h1>
${
  about &&
  html`<p class="about">${about}</p>
`
}${message}<div class="svc-card panel">
${
  items.length > 0
    ? html`<ul class="rows">
${items}</ul>
`
    : html`<p class="foot">${t(view.isLater ? 'account.paging.none' : 'account.activity.none')}</p>
`
}${foot}</div>
${pages}`,
      },
      layout,
    ),
  })

/** Creates the page of all devices in which a user is logged in. */
export const createDevicesPage =
  (layout: Layout) =>
  (view: DevicesView): string => {
    const listed = { ...view, returnTo: DEVICES_PATH }
    const hasOthers = view.isLater || view.sessions.some(({ current }) => !current)
    return listPage(layout, view, {
      title: t('account.devices.title'),
      about: t(view.hasPassword ? 'account.devices.about' : 'account.devices.about_passwordless'),
      message: notice(view.done && t(`account.done.${view.done}`)),
      items: view.sessions.map((session) => rowItem(deviceRow(session, listed))),
      foot: hasOthers
        ? html`<div class="foot">
${endOthersForm(listed)}
</div>
`
        : undefined,
      pages: pager(DEVICES_PATH, view),
    })
  }

/** Creates the page of all that happened to a user's account. */
export const createActivityPage =
  (layout: Layout) =>
  (view: ActivityPageView): string =>
    listPage(layout, view, {
      title: t('account.activity.title'),
      items: view.activity.map((one) => activityItem(one, view.nowMs)),
      foot:
        view.activity.length === 0
          ? undefined
          : html`<div class="foot">
${notMe(view.hasPassword, '/auth/account')}
</div>
`,
      pages: pager(ACTIVITY_PATH, view),
    })
