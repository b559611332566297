import type { RecipientProblem } from '../../clients/authorization.ts'
import { REQUEST_TOO_LONG } from '../../clients/authorize-request.ts'
import { AppError } from '../../lib/errors.ts'
import { html } from '../../lib/html.ts'
import type { RequestMetrics } from '../../http/request-metrics.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import { ownEnglish } from '../../languages/language.ts'
import { t, type TextKey } from '../../languages/texts.ts'
import type { Layout } from '../site/layout.ts'

/** The request is too old, or of another browser, or svc has not sealed it. */
type LostRequest = 'request_expired' | 'request_other_browser' | 'request_unreadable'

export type AuthorizeProblem = RecipientProblem | LostRequest

/** This table says for the developer what is wrong, and with which parameter. */
const DETAILS: Record<RecipientProblem, readonly [field: string, details: string]> = {
  client_missing: ['client_id', 'client_id is missing.'],
  client_unknown: ['client_id', 'client_id names no client, or one that is disabled.'],
  redirect_missing: ['redirect_uri', 'redirect_uri is missing.'],
  redirect_unknown: [
    'redirect_uri',
    'redirect_uri is none of those of this client. It is compared byte for byte; any port is accepted after a loopback address.',
  ],
  too_long: ['state', REQUEST_TOO_LONG],
  parameter_repeated: ['client_id', 'client_id and redirect_uri must come once.'],
}

/** Users can begin these again. */
const LOST: Record<LostRequest, TextKey> = {
  request_expired: 'authorize.lost_expired',
  request_other_browser: 'authorize.lost_other_browser',
  request_unreadable: 'authorize.lost_unreadable',
}

/** Creates the page of a request that must not lead anywhere: its client, or where it wants to go, is not known. */
export const createProblemPage =
  (layout: Layout, countError?: RequestMetrics['countClientError']) =>
  (problem: AuthorizeProblem, requestId: string): HttpResponse => {
    countError?.(problem)
    const isLost = problem in LOST
    const lost = isLost ? LOST[problem as LostRequest] : undefined
    // The log is English.
    const [field, details] = lost ? ['request', ownEnglish().texts(lost)] : DETAILS[problem as RecipientProblem]
    const body = html`<p>${isLost ? t('authorize.lost_about') : t('authorize.problem_about')}</p>
${!isLost && html`<h2>${t('authorize.problem_developer')}</h2>`}
<p class="about">${lost === undefined ? details : t(lost)}</p>
<a class="svc-button first" href="${layout.homeUrl}">${t('common.home', { app: layout.appName })}</a>`
    const title = isLost ? t('authorize.lost_title') : t('authorize.problem_title')
    const over = t('error.status', { status: 400 })
    const text = layout.panel({ title, sign: 'warning', over, requestId, body })
    // The address may say anything, and nothing of it stands on the page.
    return { ...page(400, text), isShownOnce: true, refused: new AppError('invalid_request', details, { field }) }
  }
