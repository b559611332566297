import { type HtmlFragment, html } from '../../lib/html.ts'

/** These are drawings of lines, in a square of 24. */
const DRAWINGS = {
  check: html`<path d="m5 12.5 4.75 4.75L19 7.5"/>`,
  clock: html`<circle cx="12" cy="12" r="9"/><path d="M12 7v5.25l3.5 2"/>`,
  info: html`<circle cx="12" cy="12" r="9"/><path d="M12 11v5.5m0-9v.01"/>`,
  key: html`<circle cx="8" cy="15.5" r="4.5"/><path d="m11.2 12.3 8.3-8.3M16 7.5l2.75 2.75"/>`,
  mail: html`<rect x="3" y="5" width="18" height="14" rx="2.5"/><path d="m3.5 7.5 8.5 6 8.5-6"/>`,
  warning: html`<path d="M10.3 4.5 2.6 17.8a2 2 0 0 0 1.7 3h15.4a2 2 0 0 0 1.7-3L13.7 4.5a2 2 0 0 0-3.4 0zM12 9.5v4.5m0 3v.01"/>`,
}

export type IconName = keyof typeof DRAWINGS

/** Makes an icon in the colour of the text around it, in forced colours too. It says nothing that the text does not. */
export const icon = (name: IconName): HtmlFragment =>
  html`<svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">${DRAWINGS[name]}</svg>`

/** Makes the sign of a page that only tells something; it stands above the heading. */
export const sign = (name: IconName): HtmlFragment => html`<div class="sign ${name}">${icon(name)}</div>
`
