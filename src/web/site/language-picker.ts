import type { Frame } from '../../http/frame.ts'
import { currentLanguage, perLanguage } from '../../languages/language.ts'
import { languageName, type Languages } from '../../languages/languages.ts'
import { t } from '../../languages/texts.ts'
import { html } from '../../lib/html.ts'
import { csrfInput, returnToInput } from './form.ts'

const END = '</body>'

/**
 * A page of ASCII is sent in half the time, and these names are on most pages. The buffer leaves a string of one byte a
 * character; `replaceAll` alone keeps the two that the names needed, and makes the whole page take them.
 */
const inAscii = (markup: string): string => {
  const ascii = markup.replaceAll(/[\u0080-\u{10ffff}]/gu, (character) => `&#${character.codePointAt(0)};`)
  return Buffer.from(ascii, 'latin1').toString('latin1')
}

/** Puts the form for the language at the foot of pages. It leads back to the page, and works without scripts. */
export const createLanguagePicker = ({ offered }: Pick<Languages, 'offered'>): Frame['withPicker'] => {
  const names = (): [tag: string, name: string][] =>
    offered
      .map((tag): [string, string] => [tag, languageName(tag)])
      .toSorted(([, a], [, b]) => a.localeCompare(b, 'en'))

  const choice = perLanguage(() => {
    const { tag: current } = currentLanguage()
    const options = names().map(
      ([tag, name]) => html`<option value="${tag}" lang="${tag}"${tag === current && html` selected`}>${name}</option>`,
    )
    const markup = inAscii(
      html`<label id="language-label" for="language">${t('page.language')}</label>
<select id="language" name="language" autocomplete="off">${options}</select>
<button class="link">${t('page.language_button')}</button>
</form>
</div>
`.toString(),
    )
    return () => markup
  })

  return (page, { csrfToken, returnTo }) => {
    const end = page.lastIndexOf(END)
    if (end < 0) return page
    const start = html`<div role="region" aria-labelledby="language-label">
<form class="language" method="post" action="/auth/language">
${csrfInput(csrfToken)}${returnToInput(returnTo)}
`
    return `${page.slice(0, end)}${start.toString()}${choice()}${page.slice(end)}`
  }
}
