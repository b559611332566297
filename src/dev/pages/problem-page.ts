import { html } from '../../lib/html.ts'
import type { Layout } from '../../web/site/layout.ts'

/** Says what is wrong with a request. */
export const problemPage = (layout: Layout, { status, message }: { status: number; message: string }): string =>
  layout.panel({
    title: status === 404 ? 'Nothing is here' : 'This did not work',
    sign: 'warning',
    over: String(status),
    body: html`<p>${message}</p>
<p><a href="/auth/dev">svc dev</a></p>`,
  })

/** Says that the application does not answer, as long as it does not. */
export const outagePage = (layout: Layout, problem: string): string =>
  layout.panel({
    title: 'No application yet',
    sign: 'clock',
    over: '502',
    body: html`<p>${problem}</p>
<p>Start it: this page loads again by itself.</p>
<p><a href="/auth/dev">svc dev</a></p>`,
  })
