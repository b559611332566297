import { type HtmlFragment, html } from '../lib/html.ts'
import type { AccountView } from './views.ts'

/** The body of the section about the email. */
export const accountEmail = ({ user }: AccountView): HtmlFragment => html`<p><b>${user.email}</b></p>`
