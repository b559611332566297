import { html } from '../lib/html.ts'
import { returnToInput } from './form.ts'
import { orLine, providerButtons } from './provider-buttons.ts'
import { texts } from './texts.ts'
import type { LoginView } from './views.ts'

/** A link between login and signup that forgets nothing about where to go afterwards. */
export const entryHref = (path: '/auth/login' | '/auth/signup', returnTo: string | undefined): string =>
  returnTo === undefined ? path : `${path}?return_to=${encodeURIComponent(returnTo.toWellFormed())}`

/** Ways in by somebody else's account, below the form; nothing where there are none. */
export const providerForms = ({
  csrfToken,
  providers,
  returnTo,
}: Pick<LoginView, 'providers' | 'csrfToken' | 'returnTo'>) => {
  const hiddenInputs = returnToInput(returnTo)
  const buttons = providerButtons({ csrfToken, providers, hiddenInputs, words: texts.continueWith })
  return buttons && html`${orLine()}${buttons}`
}
