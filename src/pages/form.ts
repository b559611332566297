import { type HtmlFragment, html } from '../lib/html.ts'
import { texts } from './texts.ts'
import type { FieldProblem, FormProblem } from './views.ts'

/** One labelled input. Its `name` is its id. */
export interface Field {
  name: string
  label: string
  type: 'email' | 'password' | 'text'
  autocomplete: string
  value?: string
  hint?: string
  optional?: boolean
  problem?: FieldProblem | undefined
  /** The id of a message elsewhere that is about this field too. */
  describedBy?: string | undefined
  focused?: boolean
  minLength?: number
  /** Where every character counts as one; never on a password, which a browser would cut off unseen. */
  maxLength?: number
}

const showButton = (name: string): HtmlFragment =>
  html`<button class="show" type="button" hidden data-shows="${name}" aria-label="${texts.showPassword}" data-show="${texts.show}" data-show-label="${texts.showPassword}" data-hide="${texts.hide}" data-hide-label="${texts.hidePassword}">${texts.show}</button>`

/** The ids of what is said about the field. A problem takes the place of the hint, which it mostly repeats. */
const descriptionOf = ({ name, hint, problem, describedBy }: Field): string | undefined => {
  const own = problem ? `${name}-problem` : hint && `${name}-hint`
  return own && describedBy ? `${own} ${describedBy}` : (own ?? describedBy)
}

const attribute = (name: string, value: string | number | undefined): HtmlFragment | undefined =>
  value === undefined ? undefined : html` ${name}="${value}"`

const attributes = (it: Field): (HtmlFragment | false | undefined)[] => [
  attribute('value', it.value),
  !it.optional && html` required`,
  // Of an email field browsers ignore it (HTML section 6.8.5).
  it.type === 'text' && html` autocapitalize="none"`,
  it.type !== 'password' && html` spellcheck="false"`,
  attribute('minlength', it.minLength),
  attribute('maxlength', it.maxLength),
  attribute('aria-invalid', (it.problem ?? it.describedBy) && 'true'),
  attribute('aria-describedby', descriptionOf(it)),
  it.focused && html` autofocus`,
]

/** Label, problem, input and hint, tied to one another. The problem stands above, where no autofill list covers it. */
export const field = (it: Field): HtmlFragment => html`<div class="field">
<label for="${it.name}">${it.label}${it.optional && html` <span>${texts.optional}</span>`}</label>
${it.problem && html`<p class="problem" role="alert" id="${it.name}-problem">${texts.fieldProblems[it.problem]}</p>`}
<input id="${it.name}" name="${it.name}" type="${it.type}" autocomplete="${it.autocomplete}"${attributes(it)}>
${it.type === 'password' && showButton(it.name)}${!it.problem && it.hint && html`<p class="hint" id="${it.name}-hint">${it.hint}</p>`}
</div>`

/** Where to go afterwards, where that was said. */
export const returnToInput = (returnTo: string | undefined): HtmlFragment | undefined =>
  returnTo === undefined ? undefined : html`<input type="hidden" name="return_to" value="${returnTo}">`

/** The token that every form carries. */
export const csrfInput = (token: string): HtmlFragment => html`<input type="hidden" name="csrf_token" value="${token}">`

/** For password managers: tells them whose password it is. It has no name, so it is not sent. */
export const ownerInput = (email: string): HtmlFragment =>
  html`<input class="unseen" type="text" autocomplete="username" value="${email}" readonly tabindex="-1" aria-hidden="true">`

const wordsOf = (problem: FormProblem): string => {
  if (problem.kind === 'credentials_wrong') return texts.credentialsWrong
  const say = problem.kind === 'busy' ? texts.busy : texts.tooManyAttempts
  return say(problem.retryAfterSeconds)
}

const requestNote = (problem: FormProblem): HtmlFragment | undefined =>
  problem.kind === 'credentials_wrong'
    ? undefined
    : html`<p class="about">${texts.requestId} <code>${problem.requestId}</code></p>`

/** The id of what `formProblem` makes. */
export const FORM_PROBLEM_ID = 'form-problem'

/** What is wrong with the form as a whole. */
export const formProblem = (problem: FormProblem | undefined, focused = false): HtmlFragment | undefined =>
  problem &&
  html`<p class="box wrong" id="${FORM_PROBLEM_ID}" role="alert" tabindex="-1"${focused && html` autofocus`}>${wordsOf(problem)}</p>${requestNote(problem)}`

/** What has just been done. It takes the focus, so that it is read out and not scrolled past. */
export const notice = (text: string | undefined): HtmlFragment | undefined =>
  text === undefined ? undefined : html`<p class="box done" role="status" tabindex="-1" autofocus>${text}</p>`
