import type { HtmlFragment } from '../lib/html.ts'
import { type Field, field } from './form.ts'
import { texts } from './texts.ts'

type Shown = Pick<Field, 'problem' | 'focused'>

/** A password that the user chooses. Its rule is shown below. */
export const chosenPassword = (it: Shown & { name?: 'password' | 'new_password'; label?: string }): HtmlFragment =>
  field({
    name: 'password',
    label: texts.newPassword,
    type: 'password',
    autocomplete: 'new-password',
    hint: texts.newPasswordHint,
    minLength: 8,
    ...it,
  })

/** A username that the user chooses. */
export const chosenUsername = (it: Shown & { value: string; hint: string; optional?: boolean }): HtmlFragment =>
  field({ name: 'username', label: texts.username, type: 'text', autocomplete: 'nickname', maxLength: 30, ...it })
