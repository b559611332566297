import { page } from '../http/response.ts'
import { html } from '../lib/html.ts'
import type { AdminContext } from './http/context.ts'
import type { MachineDoor } from './machine-door.ts'
import type { AdminSite } from './site/site.ts'

/**
 * Answers the address that `svc admin` prints: it lets one browser in. The page leads on by itself, since a cookie that is
 * `SameSite=Strict` does not come with a redirect from elsewhere, such as a file.
 */
export const createEntry = (site: AdminSite, door: MachineDoor) => ({
  handle(context: AdminContext) {
    context.setSession(door.enter(context.query.get('token')))
    const home = context.at('/')
    const body = html`<p>You are in.</p>
<a class="svc-button first" href="${home}">Go on</a>`
    const head = html`<meta http-equiv="refresh" content="0;url=${home}">`
    return page(200, site.card(context.at, { title: 'Administration', body, head }))
  },
})

/** Makes a page for a file, which leads to the address that lets a browser in. */
export const openingPageOf = ({ entryUrl }: MachineDoor): string =>
  html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=${entryUrl}">
<title>svc admin</title>
<a href="${entryUrl}">svc admin</a>
</html>
`.toString()
