import type { HtmlFragment } from '../lib/html.ts'
import { accountDone } from './account-done.ts'
import type { Section } from './account-section.ts'
import { notice } from './form.ts'
import { texts } from './texts.ts'
import type { AccountView } from './views.ts'

/** After a password change, users should check which providers are connected to their account. */
export const isReview = ({ done, signIn }: AccountView): boolean =>
  done === 'password' && Boolean(signIn?.linked.length)

/** What was done. */
export const noticeOf = (view: AccountView): HtmlFragment | undefined => {
  const text = isReview(view) ? texts.doneButConnected : view.done && accountDone[view.done].text
  return notice(text)
}

/** Where the page says what was done, or what is wrong; undefined: at its top. */
export const messageSectionOf = (view: AccountView, sections: readonly Section[]): Section | undefined => {
  const at = isReview(view) ? 'ways-in' : ((view.done && accountDone[view.done].section) ?? view.at)
  return sections.find(({ id }) => id === at || (id === 'set-password' && at === 'change-password'))
}
