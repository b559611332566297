import type { LimitedLogins } from '../../lib/limited-logins.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import type { FieldProblem, FormProblem } from '../../http/form-view.ts'
import { type Support, operatorDetails } from './support.ts'
import { texts } from './texts.ts'

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
  html`<button class="show" type="button" hidden data-shows="${id}" aria-label="${texts.showPassword}" data-show="${texts.show}" data-show-label="${texts.showPassword}" data-hide="${texts.hide}" data-hide-label="${texts.hidePassword}">${texts.show}</button>`

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
export const wordsOfField = (problem: FieldProblem): string => {
  if (typeof problem === 'string') return texts.fieldProblems[problem]
  if ('minLength' in problem) return texts.passwordTooShort(problem.minLength)
  if ('asciiForm' in problem) return texts.emailNotAscii(problem.asciiForm)
  return texts.emailNotAccepted(problem.acceptedDomains)
}

const startOf = (it: Field): HtmlFragment => {
  const { name, id = name } = it
  const input = html`<input id="${id}" name="${name}" type="${it.type}" autocomplete="${it.autocomplete}"${attributes(it)}>`
  return html`<div class="field">
<label for="${id}">${it.label}${it.optional && html` <span>${texts.optional}</span>`}</label>
${it.problem && html`<p class="problem" role="alert" id="${id}-problem">${wordsOfField(it.problem)}</p>`}${it.remedy && html`<p class="hint">${it.remedy}</p>`}
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
export const lastUsedMark = html`<span class="last">${texts.lastUsed}</span>`

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
    return problem.loginWith === 'both' ? texts.credentialsWrongOfBoth : texts.credentialsWrong
  if (problem.kind === 'outdated') return problem.cookieMissing ? texts.cookieMissing : texts.outdated
  if (problem.kind === 'codes_locked') return texts.codesLocked[problem.where]
  if (problem.kind === 'login_limited')
    return `${limitTexts.why[problem.of]} ${texts.tryAgainIn(problem.retryAfterSeconds)}`
  const say = problem.kind === 'busy' ? texts.busy : texts.tooManyAttempts
  return say(problem.retryAfterSeconds)
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
export const formProblem = (
  problem: FormProblem | undefined,
  support: Support,
  focused = false,
): HtmlFragment | undefined => {
  if (!problem) return undefined
  const requestId = requestIdOf(problem)
  return html`${problemBox(problem, focused)}${requestId !== undefined && html`<p class="about">${support.requestNote(requestId)}</p>`}${problemDetails(problem)}`
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
    label: texts.newPassword,
    type: 'password',
    autocomplete: 'new-password',
    hint: texts.newPasswordHint(it.minLength),
    ...it,
  })

export const chosenUsername = (it: Shown & { value: string; hint: string; optional?: boolean }): HtmlFragment =>
  field({ name: 'username', label: texts.username, type: 'text', autocomplete: 'nickname', maxLength: 30, ...it })

const why: Record<LimitedLogins, string> = {
  in_network:
    'So many wrong passwords came for this account from your network that no more are checked for now, perhaps from someone else.',
  anywhere:
    'So many wrong passwords came for this account that no more are checked for now, perhaps from someone else.',
  in_known_browser:
    'So many wrong passwords were entered for this account in this browser that no more are checked here for now.',
  of_network: 'So many wrong passwords came from your network that no more are checked for now.',
}

/** These texts belong to a login that is refused because too many passwords were tried. */
export const limitTexts = {
  /** This comes before the time of the next try. */
  why,
  byMail: 'You need not wait: get a link by mail.',
  byMailOrKnownBrowser: 'You need not wait: get a link by mail, or use a browser in which you have logged in before.',
  link: 'Get a link to choose a new password',
  knownBrowser: 'You need not wait in a browser in which you have logged in before.',
  askOperator: (appName: string): string => `If you cannot wait, ask whoever runs ${appName}.`,
}
