import { type HtmlFragment, html } from '../../lib/html.ts'
import type { Layout } from '../../web/site/layout.ts'
import { DEV_PROVIDER, DEV_USERS } from '../given.ts'
import { FAULTS, PROVIDER_PATH } from '../provider.ts'
import { DEV_SCRIPT, DEV_STYLE } from './dev-page.ts'

/** Lets one choose who signs in, with or without a verified address, or what goes wrong. */
export const providerPage = (layout: Layout, request: URLSearchParams): string => {
  const hrefWith = (chosen: Record<string, string>): string =>
    `${PROVIDER_PATH}?${new URLSearchParams([...request, ...Object.entries(chosen)]).toString()}`
  const userLinks = (email: string): HtmlFragment => html`<div class="person">
<a class="svc-button second" href="${hrefWith({ email })}">${email}</a>
<a class="link" href="${hrefWith({ email, verified: 'false' })}">as an address that is not verified</a>
</div>
`
  return layout.panel({
    title: DEV_PROVIDER.label,
    body: html`<link rel="stylesheet" href="${DEV_STYLE}">
<script src="${DEV_SCRIPT}" defer></script>
<p>Choose who signs in. No password is asked for: this provider is a part of svc dev.</p>
<div class="providers">
${DEV_USERS.map(({ email }) => userLinks(email))}</div>
<div class="svc-field another" hidden>
<label for="email">Another email</label>
<input id="email" type="email" autocomplete="off" spellcheck="false" value="alan@example.com">
<div class="ways">
<button class="svc-button second small" type="button" data-go="${hrefWith({})}">Sign in</button>
<button class="svc-button second small" type="button" data-go="${hrefWith({ verified: 'false' })}">Not verified</button>
</div>
</div>
<details>
<summary class="quiet">Fail on purpose</summary>
<ul class="ends">
${Object.entries(FAULTS).map(
  ([fail, words]) =>
    html`<li><a href="${hrefWith({ fail, email: DEV_USERS[0]?.email ?? '' })}">${words}</a></li>
`,
)}</ul>
</details>`,
  })
}
