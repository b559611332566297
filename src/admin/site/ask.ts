import type { HttpResponse } from '../../http/response.ts'
import { AppError } from '../../lib/errors.ts'
import { type HtmlFragment, type HtmlValue, html } from '../../lib/html.ts'
import { consequences } from '../../web/site/consequences.ts'
import { csrfInput } from '../../web/site/form.ts'
import { passkeyButton } from '../../web/site/passkey-button.ts'
import type { AdminContext, FormRefusal } from '../http/context.ts'
import type { AdminSite, Tab } from './site.ts'

/** A page asks before something is done: it says what, and what ends with it. */
export interface Ask {
  tab?: Tab
  title: string
  /** This leads back, and does nothing. */
  back: string
  /** This is what it is about, such as the email of a user. */
  about?: HtmlValue
  /** These follow from it. */
  ends: readonly (string | undefined)[]
  fields?: HtmlFragment
  button: string
  isDanger?: boolean
  /** False: what an administrator does with their own things needs no reason. */
  asksReason?: boolean
}

const MAX_REASON = 200

/** A name for the field that says why. */
const REASON_FIELD = 'reason'

/** Characters that a terminal obeys, that end a line, or that turn the direction of text. */
const UNWRITABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u

/** Reads why an operator does something; undefined where they say nothing. Throws `unprocessable`. */
export const readReason = ({ form }: AdminContext): string | undefined => {
  const entered = form.get(REASON_FIELD)?.trim() ?? ''
  const problem = problemOf(entered)
  if (problem === undefined) return entered || undefined
  throw new AppError('unprocessable', problem, { field: REASON_FIELD })
}

const problemOf = (reason: string): string | undefined => {
  if (Array.from(reason).length > MAX_REASON) return `The reason must have ${MAX_REASON} characters at most.`
  if (UNWRITABLE.test(reason))
    return 'The reason must be one line, without control characters and without those that turn the direction of text.'
  return undefined
}

interface TextField {
  name: string
  label: string
  value?: string | undefined
  hint?: string
  type?: 'text' | 'email' | 'date' | 'datetime-local'
  isOptional?: boolean
  isFocused?: boolean
  maxLength?: number
}

/** A labelled input. A refused form shows what is wrong above it. */
export const textField = (it: TextField, refusal?: FormRefusal): HtmlFragment => {
  const { name, label, value, hint, type = 'text', isOptional = false, maxLength } = it
  const problem = refusal?.field === name ? refusal.message : undefined
  const described = problem === undefined ? hint && `${name}-hint` : `${name}-problem`
  return html`<div class="svc-field">
<label for="${name}">${label}${isOptional && html` <span>optional</span>`}</label>
${problem !== undefined && html`<p class="problem" role="alert" id="${name}-problem">${problem}</p>`}
<input id="${name}" name="${name}" type="${type}" autocomplete="off" autocapitalize="none" spellcheck="false"${value !== undefined && html` value="${value}"`}${!isOptional && html` required`}${maxLength !== undefined && html` maxlength="${maxLength}"`}${problem !== undefined && html` aria-invalid="true"`}${described !== undefined && html` aria-describedby="${described}"`}${(it.isFocused === true || problem !== undefined) && html` autofocus`}>
${problem === undefined && hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
</div>
`
}

export const checkbox = (name: string, label: string, isChecked = false, hint?: string): HtmlFragment =>
  html`<div class="svc-field"><label class="tick" for="${name}"><input id="${name}" name="${name}" type="checkbox" value="1"${isChecked && html` checked`}${hint !== undefined && html` aria-describedby="${name}-hint"`}>${label}</label>
${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}</div>
`

/** A choice from a list. */
export const selectField = (
  name: string,
  label: string,
  options: readonly (readonly [value: string, text: string])[],
  chosen: string | undefined,
): HtmlFragment =>
  html`<div class="svc-field">
<label for="${name}">${label}</label>
<select id="${name}" name="${name}">
${options.map(
  ([value, text]) => html`<option value="${value}"${value === (chosen ?? '') && html` selected`}>${text}</option>
`,
)}</select>
</div>
`

const buttonOf = (context: AdminContext, { button, isDanger }: Ask): HtmlFragment => {
  if (!context.operator.mustProve)
    return html`<button class="svc-button ${isDanger ? 'danger' : 'first'}">${button}</button>`
  const before = html`<p class="hint">You have not shown your passkey in the last ten minutes.</p>`
  return passkeyButton({
    kind: 'fill',
    csrfToken: context.csrfToken,
    base: context.at('/passkeys'),
    label: `${button} with your passkey`,
    isMain: true,
    before,
  })
}

/** Makes the page that asks. A refused form has what was entered, and says what is wrong. */
export const askPage = (site: AdminSite, context: AdminContext, ask: Ask, refusal?: FormRefusal): HttpResponse => {
  const { tab, title, back, about, ends, fields, asksReason = true } = ask
  const isOfField = refusal?.field !== undefined && isShown(refusal.field, fields)
  const reason = textField(
    {
      name: REASON_FIELD,
      label: 'Reason',
      isOptional: true,
      maxLength: MAX_REASON,
      value: context.form.get(REASON_FIELD),
      hint: 'The records keep it, and the user may read it. Name no other people.',
    },
    refusal,
  )
  const body = html`<div class="narrow">
<h1>${title}</h1>
${about !== undefined && html`<p class="about">${about}</p>`}
${refusal && !isOfField && html`<p class="box wrong" role="alert" tabindex="-1" autofocus>${refusal.message}</p>`}
${ends.length > 0 && html`<div>${consequences(ends)}</div>`}
<form method="post" novalidate>
${csrfInput(context.csrfToken)}${fields}${asksReason && reason}${buttonOf(context, ask)}
<a class="svc-button second" href="${context.at(back)}">Do nothing</a>
</form>
</div>
`
  const { status = 200 } = refusal ?? {}
  return site.page(context, {
    title,
    tab,
    body,
    status,
    isWrong: refusal !== undefined,
    passkeys: context.operator.mustProve,
  })
}

const isShown = (field: string, fields: HtmlFragment | undefined): boolean =>
  field === REASON_FIELD || fields?.toString().includes(`name="${field}"`) === true
