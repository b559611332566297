import { type HtmlFragment, html } from '../../lib/html.ts'
import { currentLanguage, perLanguage } from '../../languages/language.ts'
import { t } from '../../languages/texts.ts'
import type { FormProblem } from '../../http/form-view.ts'
import type { Asset } from './assets.ts'
import { type Branding, brandOf, type HeadDeps, headOf, styleLink } from './branding.ts'
import { createFootLinks, type FootLinks } from './foot-links.ts'
import { problemBox, problemDetails, requestIdOf } from './form.ts'
import { type IconName, sign } from './icon.ts'
import { type Support, createSupport, requestNote } from './support.ts'

interface LayoutDeps extends HeadDeps {
  accountStyle: Asset
  script: Asset
  passkeys: () => Asset
}

/** This is the same each time a page is shown. */
interface Fixed {
  title: string
  /** This tells whether the page has the rows of the account, which need their style. */
  rows?: boolean
  /** This tells whether passkeys can be used on the page, which needs their script. */
  passkeys?: boolean
}

interface Content {
  /** This tells whether the form had an error. The title then says so, since screen readers read it first. */
  wrong?: boolean
  body: HtmlFragment
}

interface PanelContent extends Content {
  /** A page that only tells something has a sign above its heading. */
  sign?: IconName | undefined
  /** This is shown above the heading: the status of an error, or the interrupted action. */
  over?: string | undefined
  /** This is wrong with the form as a whole. It is shown above the form, and its reference below the card. */
  problem?: FormProblem | undefined
  /** This tells whether the problem takes the focus. */
  focusesProblem?: boolean
  /** These are ways elsewhere, below the card. */
  below?: HtmlFragment | undefined
  /** An operator finds the line in the log with it. It is the last that the page shows. */
  requestId?: string | undefined
}

/** Shows one page again and again, and renders what is fixed once. */
interface Frame {
  document(content: Content): string
  /** Renders a document with one card, which has the brand and one heading, and a line with links below. */
  panel(content: PanelContent): string
}

export interface Layout {
  appName: string
  /** This is the logo or name, with a link to the application. */
  brand: HtmlFragment
  homeUrl: string
  /** It has the meaning that it has in `Branding`. */
  passwords: boolean
  passwordMinLength: number
  passkeys: boolean
  emailSignIn: boolean
  providersFirst: boolean
  clients: boolean
  support: Support
  agreement: FootLinks['agreement']
  mailIsOn: boolean
  frame(fixed: Fixed): Frame
  /** Renders a page whose title is not fixed, or that is shown rarely. */
  document(page: Fixed & Content): string
  panel(page: Fixed & PanelContent): string
}

const scriptOf = ({ path }: Asset): HtmlFragment => html`
<script src="${path}" defer></script>`

/** Creates the frames of all pages. The parts that pages share are rendered once. */
export const createLayout = (branding: Branding, deps: LayoutDeps): Layout => {
  const { appName } = branding
  const head = perLanguage(() => {
    const made = headOf(deps, branding)
    return () => made
  })
  const brand = brandOf(branding)
  const support = createSupport(branding)
  const footLinks = createFootLinks(branding)
  const script = scriptOf(deps.script)
  const rowStyle = styleLink(deps.accountStyle)

  const footerOf = ({ below, problem, requestId = problem && requestIdOf(problem) }: Partial<PanelContent>) => {
    const links = footLinks.line()
    return (
      (below || requestId !== undefined || links) &&
      html`
<footer class="below">
${below && html`<p>${below}</p>`}${requestId !== undefined && html`<p>${requestNote(requestId)}</p>`}${links}
</footer>`
    )
  }

  /** All characters are ASCII as long as the texts are: a page of ASCII is sent in half the time. */
  const startOf = (
    { title, rows = false, passkeys = false }: Fixed,
    wrong: boolean,
  ): HtmlFragment => html`<!doctype html>
<html lang="${currentLanguage().tag}"${currentLanguage().direction === 'rtl' && html` dir="rtl"`}>
<head>
<meta charset="utf-8">
<title>${wrong ? t('page.error_title', { title }) : title} &#183; ${appName}</title>${head()}${rows && rowStyle}${script}${passkeys && scriptOf(deps.passkeys())}
</head>
<body>
`

  const frame: Layout['frame'] = (fixed) => {
    const start = startOf(fixed, false)
    const card = html`<div class="svc-card card">
<header>${brand}</header>
<main>
`
    const heading = html`<h1>${fixed.title}</h1>
`

    const written = ({ wrong = false, body, ...foot }: Partial<PanelContent>): string =>
      html`${wrong ? startOf(fixed, true) : start}${body}${footerOf(foot)}
</body>
</html>
`.toString()

    const document: Frame['document'] = ({ wrong, body }) => written({ ...(wrong !== undefined && { wrong }), body })

    const panel: Frame['panel'] = (content) => {
      const { over, problem, wrong = problem !== undefined, body } = content
      return written({
        ...content,
        wrong,
        body: html`${card}${content.sign && sign(content.sign)}${
          over &&
          html`<p class="over">${over}</p>
`
        }${heading}${problem && problemBox(problem, content.focusesProblem)}${body}${problem && problemDetails(problem)}
</main>
</div>`,
      })
    }

    return { document, panel }
  }

  return {
    appName,
    brand,
    homeUrl: branding.homeUrl ?? '/',
    passwords: branding.passwords ?? true,
    passwordMinLength: branding.passwordMinLength ?? 8,
    passkeys: branding.passkeys ?? false,
    emailSignIn: branding.emailSignIn ?? false,
    providersFirst: branding.providersFirst ?? false,
    clients: branding.clients ?? false,
    support,
    agreement: footLinks.agreement,
    mailIsOn: branding.mailIsOn ?? false,
    frame,
    document: (page) => frame(page).document(page),
    panel: (page) => frame(page).panel(page),
  }
}
