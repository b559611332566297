import { type HtmlFragment, html } from '../../lib/html.ts'
import type { FieldProblem, FormProblem } from '../../http/form-view.ts'
import { MAX_PASSWORD_LENGTH } from '../../accounts/passwords/password-rules.ts'
import { afterWaitText, anyOfText } from '../../languages/formats.ts'
import { t } from '../../languages/texts.ts'
import { operatorDetails, requestNote } from './support.ts'

/** A field is one labelled input. The `name` is also the ID, unless it has another. */
export interface Field {
  name: string
  id?: string
  label: string
  type: 'email' | 'password' | 'text'
  autocomplete: string
  value?: string
  hint?: string
  optional?: boolean
  /** This says which keys a phone shows. */
  inputMode?: 'numeric' | 'email'
  problem?: FieldProblem | undefined
  /** This link stands beside the label. The keyboard reaches it after the field. */
  beside?: HtmlFragment | undefined
  /** This link helps with the problem. */
  remedy?: HtmlFragment | undefined
  /** This is the ID of a message elsewhere that also describes this field. */
  describedBy?: string | undefined
  focused?: boolean
  minLength?: number
  /**
   * It is meant for fields of ASCII text, and never for a password, which browsers would truncate without a message.
   */
  maxLength?: number
  /** It is written from left to right or from right to left, and each word begins with a capital letter. */
  isPersonName?: boolean
}

const showButton = (id: string): HtmlFragment =>
  html`<button class="show" type="button" hidden data-shows="${id}" aria-label="${t('field.show_password')}" data-show="${t('field.show')}" data-show-label="${t('field.show_password')}" data-hide="${t('field.hide')}" data-hide-label="${t('field.hide_password')}">${t('field.show')}</button>`

/** Lists the IDs of the texts about the field. A problem replaces the hint, which it usually repeats. */
const descriptionOf = ({ name, id = name, hint, problem, describedBy }: Field): string | undefined => {
  const own = problem ? `${id}-problem` : hint && `${id}-hint`
  return own && describedBy ? `${own} ${describedBy}` : (own ?? describedBy)
}

const attribute = (name: string, value: string | number | undefined): HtmlFragment | undefined =>
  value === undefined ? undefined : html` ${name}="${value}"`

const attributes = (it: Field): (HtmlFragment | false | undefined)[] => [
  attribute('value', it.value),
  !it.optional && html` required`,
  // Browsers ignore it on email fields (HTML section 6.8.5).
  it.type === 'text' && (it.isPersonName ? html` autocapitalize="words" dir="auto"` : html` autocapitalize="none"`),
  it.type !== 'password' && html` spellcheck="false"`,
  attribute('inputmode', it.inputMode),
  attribute('minlength', it.minLength),
  attribute('maxlength', it.maxLength),
  attribute('aria-invalid', it.problem && 'true'),
  attribute('aria-describedby', descriptionOf(it)),
  it.focused && html` autofocus`,
]

/** Says what is wrong with a field. */
export const fieldProblemText = (problem: FieldProblem): string => {
  if (problem === 'password_too_long') return t.plural('problem.password_too_long', MAX_PASSWORD_LENGTH)
  if (typeof problem === 'string') return t(`problem.${problem}`)
  if ('minLength' in problem) return t.plural('field.password.too_short', problem.minLength)
  if ('asciiForm' in problem) return t('problem.email_not_ascii', { address: problem.asciiForm })
  return t('problem.email_not_accepted', { domains: anyOfText(problem.acceptedDomains) })
}

const startOf = (it: Field): HtmlFragment => {
  const { name, id = name } = it
  const input = html`<input id="${id}" name="${name}" type="${it.type}" autocomplete="${it.autocomplete}"${attributes(it)}>`
  return html`<div class="svc-field">
<label for="${id}">${it.label}${it.optional && html` <span>${t('field.optional')}</span>`}</label>
${it.problem && html`<p class="problem" role="alert" id="${id}-problem">${fieldProblemText(it.problem)}</p>`}${it.remedy && html`<p class="hint">${it.remedy}</p>`}
${it.type === 'password' ? html`<div class="secret">${input}${showButton(id)}</div>` : input}
`
}

const endOf = ({ name, id = name, problem, hint }: Field): HtmlFragment =>
  html`${!problem && hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
</div>`

export type FieldBeside = (beside: HtmlFragment | undefined) => HtmlFragment

/** Renders a field once, and takes the link beside its label each time it is shown. */
export const fieldBeside = (it: Omit<Field, 'beside'>): FieldBeside => {
  const [start, end] = [startOf(it), endOf(it)]
  return (beside) => html`${start}${beside}${end}`
}

/**
 * Label, problem, input and hint are linked by their IDs. The problem is above the input, where no autofill list covers
 * it.
 */
export const field = ({ beside, ...it }: Field): HtmlFragment => fieldBeside(it)(beside)

/** Marks the button of the way by which this browser signed in last. */
export const lastUsedMark = (): HtmlFragment => html`<span class="last">${t('login.last_used')}</span>`

/** Makes the hidden field for `return_to`, if it was given. */
export const returnToInput = (returnTo: string | undefined): HtmlFragment | undefined =>
  returnTo === undefined ? undefined : html`<input type="hidden" name="return_to" value="${returnTo}">`

/** Makes the hidden field for the CSRF token, which every form contains. */
export const csrfInput = (token: string): HtmlFragment => html`<input type="hidden" name="csrf_token" value="${token}">`

/** Makes the hidden field for the token of a link, which the form of its page sends back. */
export const tokenInput = (token: string): HtmlFragment => html`<input type="hidden" name="token" value="${token}">`

/** Tells password managers which account the password belongs to. It has no name, so it is not sent. */
export const ownerInput = (email: string): HtmlFragment =>
  html`<input class="unseen" type="text" autocomplete="username" value="${email}" readonly tabindex="-1" aria-hidden="true">`

const wordsOf = (problem: FormProblem): string => {
  if (problem.kind === 'credentials_wrong')
    return t(problem.loginWith === 'both' ? 'form.credentials_wrong_both' : 'form.credentials_wrong')
  if (problem.kind === 'outdated') return t(problem.cookieMissing ? 'form.cookie_missing' : 'form.outdated')
  if (problem.kind === 'codes_locked') return t(`form.codes_locked.${problem.where}`)
  const when = afterWaitText(problem.retryAfterSeconds)
  return problem.kind === 'login_limited'
    ? t(`login_limit.${problem.of}`, { when })
    : t(`form.${problem.kind}`, { when })
}

/** Finds the request ID of a problem that an operator can look into. */
export const requestIdOf = (problem: FormProblem): string | undefined =>
  problem.kind === 'credentials_wrong' ? undefined : problem.requestId

/** Developers and operators need these details, and nobody else. */
export const problemDetails = (problem: FormProblem): HtmlFragment | undefined =>
  problem.kind === 'outdated' ? operatorDetails(html`<p>${problem.details}</p>`) : undefined

/** The element of `problemBox` has this ID. */
export const FORM_PROBLEM_ID = 'form-problem'

export const problemBox = (problem: FormProblem, focused = false): HtmlFragment =>
  html`<p class="box wrong" id="${FORM_PROBLEM_ID}" role="alert" tabindex="-1"${focused && html` autofocus`}>${wordsOf(problem)}</p>
`

/** Makes the box with its reference and details, on a page where these stand together. */
export const formProblem = (problem: FormProblem | undefined, focused = false): HtmlFragment | undefined => {
  if (!problem) return undefined
  const requestId = requestIdOf(problem)
  return html`${problemBox(problem, focused)}${requestId !== undefined && html`<p class="about">${requestNote(requestId)}</p>`}${problemDetails(problem)}`
}

/**
 * Shows the message after a successful action. It takes the focus, so that screen readers read it and it is in view:
 * the fragment of the address moves the focus there, or the message does so itself. `note` says that nothing was
 * achieved, and the user goes on otherwise.
 */
export const notice = (text: string | undefined, kind: 'done' | 'note' = 'done'): HtmlFragment | undefined =>
  text === undefined
    ? undefined
    : html`<p class="box ${kind}" id="done" role="status" tabindex="-1" autofocus>${text}</p>
`

type Shown = Pick<Field, 'problem' | 'focused'>

interface ChosenPassword extends Shown {
  name?: 'password' | 'new_password'
  label?: string
  minLength: number
}

/** A user chooses this password. Its rule is shown below. */
export const chosenPassword = (it: ChosenPassword): HtmlFragment =>
  field({
    name: 'password',
    label: t('field.new_password'),
    type: 'password',
    autocomplete: 'new-password',
    hint: t.plural('field.password.hint', it.minLength),
    ...it,
  })

export const chosenUsername = (it: Shown & { value: string; hint: string; optional?: boolean }): HtmlFragment =>
  field({ name: 'username', label: t('field.username'), type: 'text', autocomplete: 'nickname', maxLength: 30, ...it })
