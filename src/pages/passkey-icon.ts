import { html } from '../lib/html.ts'

/** A user and a key, which stand for passkeys. It has the colour of the text around it, in forced colours too. */
export const passkeyIcon = html`<svg width="20" height="20" fill="currentColor" fill-rule="evenodd" aria-hidden="true"><path transform="scale(.833)" d="M9.5 2.5a4.6 4.6 0 1 1 0 9.2 4.6 4.6 0 0 1 0-9.2zM1 20.5c0-4 3.4-6.8 8.5-6.8 1.8 0 3.4.4 4.7 1a5 5 0 0 0 1.5 3.2v2.6zM19 8.8a4 4 0 0 1 1.5 7.7v1l1.2 1.3-1.2 1.3 1.2 1.3-2.3 2.3-1.9-2v-5.2A4 4 0 0 1 19 8.8zm0 2a1.3 1.3 0 1 0 0 2.6 1.3 1.3 0 0 0 0-2.6z"></path></svg>`
