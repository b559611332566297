import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'

interface FootLinkSettings {
  /** These are http(s) addresses, or paths on this origin. */
  termsUrl?: string | undefined
  privacyUrl?: string | undefined
  /** This is an https or mailto address. */
  supportUrl?: string | undefined
}

export interface FootLinks {
  /** Makes the line at the foot of each page; undefined if there is nothing to link to. */
  line(): HtmlFragment | undefined
  /** Makes the sentence above a button that creates an account; undefined if there is nothing to agree to. */
  agreement(): HtmlFragment | undefined
}

const link = (url: string, text: string): HtmlFragment => html`<a href="${url}">${text}</a>`

export const createFootLinks = ({ termsUrl, privacyUrl, supportUrl }: FootLinkSettings): FootLinks => {
  const agreed = (): HtmlFragment | undefined => {
    const terms = termsUrl !== undefined && link(termsUrl, t('signup.agree.terms_link'))
    const privacy = privacyUrl !== undefined && link(privacyUrl, t('signup.agree.privacy_link'))
    if (terms && privacy) return t.html('signup.agree', { terms, privacy })
    if (terms) return t.html('signup.agree_to_terms', { terms })
    return privacy ? t.html('signup.agree_to_privacy', { privacy }) : undefined
  }

  return {
    line() {
      const links = [
        termsUrl !== undefined && link(termsUrl, t('page.terms')),
        privacyUrl !== undefined && link(privacyUrl, t('page.privacy')),
        supportUrl !== undefined && link(supportUrl, t('support.link')),
      ].filter((one) => one !== false)
      return links.length === 0
        ? undefined
        : html`<p class="links">
${links.map((one) => html`${one}\n`)}</p>`
    },

    agreement() {
      const sentence = agreed()
      return sentence && html`<p class="about">${sentence}</p>\n`
    },
  }
}
