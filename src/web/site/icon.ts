import { type HtmlFragment, html } from '../../lib/html.ts'

/** These are drawings of lines, in a square of 24. */
const DRAWINGS = {
  app: html`<rect x="6.5" y="2.5" width="11" height="19" rx="2.5"/><path d="M10 8.5h4M10 12h4m-2 6.5v.01"/>`,
  back: html`<path d="m14.5 6-6 6 6 6"/>`,
  check: html`<path d="m5 12.5 4.75 4.75L19 7.5"/>`,
  clock: html`<circle cx="12" cy="12" r="9"/><path d="M12 7v5.25l3.5 2"/>`,
  codes: html`<rect x="3.5" y="4" width="17" height="16" rx="2.5"/><path d="M8 9h2.5m3 0H16m-8 3h2.5m3 0H16m-8 3h2.5m3 0H16"/>`,
  download: html`<path d="M12 4v11m-4.5-4.5L12 15l4.5-4.5M4.5 19.5h15"/>`,
  info: html`<circle cx="12" cy="12" r="9"/><path d="M12 11v5.5m0-9v.01"/>`,
  key: html`<circle cx="8" cy="15.5" r="4.5"/><path d="m11.2 12.3 8.3-8.3M16 7.5l2.75 2.75"/>`,
  laptop: html`<rect x="4.5" y="5" width="15" height="10.5" rx="2"/><path d="M2.5 19h19"/>`,
  mail: html`<rect x="3" y="5" width="18" height="14" rx="2.5"/><path d="m3.5 7.5 8.5 6 8.5-6"/>`,
  person: html`<circle cx="12" cy="8" r="4"/><path d="M4.5 20.5c.7-3.9 3.6-6 7.5-6s6.8 2.1 7.5 6"/>`,
  phone: html`<rect x="7" y="2.5" width="10" height="19" rx="2.5"/><path d="M11 18.5h2"/>`,
  plus: html`<path d="M12 5v14M5 12h14"/>`,
  terminal: html`<rect x="3" y="4.5" width="18" height="15" rx="2.5"/><path d="m7 9.5 3 2.5-3 2.5m6 .5h4"/>`,
  trash: html`<path d="M4.5 6.5h15m-10 0v-2h5v2m-8 0 .8 13h9.4l.8-13M10 10.5v5.5m4-5.5v5.5"/>`,
  trusted: html`<path d="M12 2.8 4.8 5.6v5.6c0 4.6 3 8 7.2 10 4.2-2 7.2-5.4 7.2-10V5.6z"/><path d="m8.8 12 2.3 2.3 4.2-4.4"/>`,
  warning: html`<path d="M10.3 4.5 2.6 17.8a2 2 0 0 0 1.7 3h15.4a2 2 0 0 0 1.7-3L13.7 4.5a2 2 0 0 0-3.4 0zM12 9.5v4.5m0 3v.01"/>`,
}

export type IconName = keyof typeof DRAWINGS

/** Makes an icon in the colour of the text around it, in forced colours too. It says nothing that the text does not. */
export const icon = (name: IconName): HtmlFragment =>
  html`<svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">${DRAWINGS[name]}</svg>`

/** Makes the sign of a page that only tells something; it stands above the heading. */
export const sign = (name: IconName): HtmlFragment => html`<div class="sign ${name}">${icon(name)}</div>
`
