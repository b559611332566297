import { redirectWith } from '../../clients/authorize-request.ts'
import type { AuthorizeError } from '../../clients/authorize-policy.ts'
import type { Recipient } from '../../clients/authorize-request.ts'
import { kindOfRedirect } from '../../clients/redirect-uri.ts'
import type { RequestMetrics } from '../../http/request-metrics.ts'
import { type HttpResponse, page, redirect } from '../../http/response.ts'
import { t } from '../../languages/texts.ts'
import { html } from '../../lib/html.ts'
import type { Layout } from '../site/layout.ts'
import { hostOf } from '../site/client-words.ts'

/** The client gets a code, or an error whose description is for its developer. */
type ClientAnswer = { code: string } | { error: AuthorizeError; error_description: string }

/** `pages` says that the user has come from a form or a page of svc. */
export type AnswerClient = (recipient: Recipient, answer: ClientAnswer, came: 'pages' | 'at_once') => HttpResponse

/**
 * Sends the browser back to the client. Browsers apply `form-action` to every redirect after a form, and no policy can
 * name the scheme of every client: a user who came from a form gets a page that goes on by itself.
 */
export const createAnswerClient =
  (layout: Layout, issuer: string, countError?: RequestMetrics['countClientError']): AnswerClient =>
  ({ client, redirectUri, state }, answer, came) => {
    if ('error' in answer) countError?.(answer.error)
    const address = redirectWith(redirectUri, { ...answer, state, iss: issuer })
    if (came === 'at_once') return redirect(address)
    return {
      ...page(200, backPage(layout, client.name, redirectUri, address)),
      headers: ['refresh', `0;url=${address}`],
    }
  }

const backPage = (layout: Layout, name: string, redirectUri: string, address: string): string =>
  layout.panel({
    title: t('authorize.back_title', { name }),
    sign: 'check',
    body: html`<p>${kindOfRedirect(redirectUri) === 'https' ? t.html('authorize.back_about', { host: html`<b>${hostOf(redirectUri)}</b>` }) : t('authorize.back_about_program')}</p>
<a class="svc-button first" href="${address}">${t('authorize.back_button', { name })}</a>`,
  })
