import type { HtmlFragment } from '../lib/html.ts'
import { type Field, field } from './form.ts'
import { texts } from './texts.ts'

type Shown = Pick<Field, 'problem' | 'focused'>

interface ChosenPassword extends Shown {
  name?: 'password' | 'new_password'
  label?: string
  minLength: number
}

/** A password that the user chooses. Its rule is shown below. */
export const chosenPassword = (it: ChosenPassword): HtmlFragment =>
  field({
    name: 'password',
    label: texts.newPassword,
    type: 'password',
    autocomplete: 'new-password',
    hint: texts.newPasswordHint(it.minLength),
    ...it,
  })

/** A username that the user chooses. */
export const chosenUsername = (it: Shown & { value: string; hint: string; optional?: boolean }): HtmlFragment =>
  field({ name: 'username', label: texts.username, type: 'text', autocomplete: 'nickname', maxLength: 30, ...it })
