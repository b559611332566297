import { html } from '../lib/html.ts'
import type { AdminRequest } from './http/admin-request.ts'
import type { ErrorPage } from './http/admin-responder.ts'
import type { AdminSite } from './site/site.ts'

/** What to say about an error, by its reason or its status. */
const TITLES: Readonly<Record<string, string>> = {
  role: 'Your role does not allow this',
  no_user: 'There is no such user',
  entered: 'This address was used, or is too old',
  foreign: 'This did not come from these pages',
  outdated: 'This page was too old',
  400: 'This cannot be read',
  401: 'You are not signed in',
  403: 'This is not allowed',
  404: 'There is nothing here',
  405: 'This is not allowed',
  410: 'This is over',
  503: 'The service does not answer now',
}

/** Makes the pages of errors; those without an operator are as short as they can be. */
export const createAdminErrorPage =
  (site: AdminSite, signIn?: (request: AdminRequest) => string): ErrorPage =>
  (request, error, status) => {
    if (error.code === 'unauthorized' && signIn) return signIn(request)
    const title = TITLES[error.reason ?? ''] ?? TITLES[status] ?? 'Something went wrong'
    const message = status >= 500 ? 'Try it once more in a moment.' : error.message
    const records =
      error.reason === 'no_user' &&
      html`<p><a href="${request.at(`/events?user=${request.parameters.id}`)}">What is recorded of this id</a></p>`
    const body = html`${message !== `${title}.` && html`<p>${message}</p>`}
${records}${adviceOf(request, error.reason, status)}
<p class="about">Reference: <code>${request.requestId}</code></p>`
    if (!request.found) return site.card(request.at, { title, body })
    return site.document(request, { title, body: html`<div class="narrow"><h1>${title}</h1>${body}</div>` })
  }

const adviceOf = ({ found, at }: AdminRequest, reason: string | undefined, status: number) => {
  if (found) return html`<p><a class="svc-button second" href="${at('/')}">Users</a></p>`
  return (
    (status === 401 || reason === 'entered') &&
    html`<p>Run <code>svc admin</code>, and open the address that it prints.</p>`
  )
}
