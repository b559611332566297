import type { DeadLinkView } from '../../http/frame.ts'
import { html } from '../../lib/html.ts'
import type { IconName } from './icon.ts'
import type { Layout } from './layout.ts'
import { texts } from './texts.ts'

/** Creates the page of a link that is not good. It says what became of the link, and where there is a new one. */
export const createDeadLinkPage = (layout: Layout) => {
  const { appName, support, mailIsOn, passwords } = layout
  const next = deadLinkTexts.next(appName, passwords)
  const resetWithoutMail = { advice: deadLinkTexts.resetWithoutMail(appName, passwords), button: undefined }

  return ({ purpose, state }: DeadLinkView): string => {
    const { title, why, sign } = deadLinkTexts.reasons[state]
    const { advice, button } = purpose === 'reset' && !mailIsOn ? resetWithoutMail : next[purpose]
    return layout.panel({
      title,
      sign,
      body: html`<p>${why}</p>
<p>${support.text(advice)}</p>
<div class="steps">
${button && html`<a class="first" href="${button.href}">${button.words}</a>`}
<a class="${button ? 'second' : 'first'}" href="/auth/login">${texts.logIn}</a>
</div>`,
    })
  }
}

interface Reason {
  title: string
  why: string
  sign: IconName
}

/** These texts say what became of a link that is not good. */
const reasons: Record<DeadLinkView['state'], Reason> = {
  used: {
    title: 'This link was used already',
    why: 'A link works only once.',
    sign: 'check',
  },
  replaced: {
    title: 'There is a newer link',
    why: 'Only the latest links work. Look for the latest message.',
    sign: 'mail',
  },
  ended: {
    title: 'This link no longer works',
    why: 'The account has changed since it was made, and that ends older links.',
    sign: 'info',
  },
  expired: {
    title: 'This link has expired',
    why: 'For your safety, it worked for a limited time.',
    sign: 'clock',
  },
  unknown: {
    title: 'This link leads nowhere',
    why: 'Its address is incomplete, or the link is too old. Copy the whole address from the message.',
    sign: 'warning',
  },
}

interface Next {
  /** This says what to do instead. */
  advice: string
  /** If there is no button, nothing here helps. */
  button?: { words: string; href: string }
}

const toAccount = { words: 'Go to your account', href: '/auth/account' }

const notMe = (passwords: boolean): Next => ({
  advice: passwords
    ? 'If something in your account is not yours, remove it on your account page, and change your password.'
    : 'If something in your account is not yours, remove it on your account page.',
  button: toAccount,
})

/** Finds the way to a new link, or to the purpose of the link. */
const next = (appName: string, passwords: boolean): Record<DeadLinkView['purpose'], Next> => ({
  reset: {
    advice: passwords
      ? 'If you still need a new password, we can send you another link.'
      : 'If you still cannot log in, we can send you another link.',
    button: { words: 'Send me a new link', href: '/auth/password/forgot' },
  },
  verify: {
    advice: 'If your email address is not confirmed yet, your account page sends you another link.',
    button: toAccount,
  },
  signup: {
    advice: 'If you have confirmed your email address already, log in. If not, create your account again.',
    button: { words: 'Create an account', href: '/auth/signup' },
  },
  new_email: {
    advice: 'Your account page shows your email address, and lets you change it again.',
    button: toAccount,
  },
  undo: {
    advice: `If your email address was changed and you did not do it, ask whoever runs ${appName} for help.`,
  },
  invite: {
    advice: 'If you have an account already, log in. If not, ask the person who invited you for a new invitation.',
  },
  first_factor: {
    advice: 'If you still want to set up a passkey or codes from an app, begin again on your account page.',
    button: toAccount,
  },
  not_me: notMe(passwords),
  not_my_browser: notMe(passwords),
  not_my_passkey: notMe(passwords),
  not_my_second_factor: notMe(passwords),
})

const deadLinkTexts = {
  reasons,
  next,
  /** This is shown while no mail is sent. */
  resetWithoutMail: (appName: string, passwords: boolean): string =>
    `If you still ${passwords ? 'need a new password' : 'cannot log in'}, ask whoever runs ${appName} for another link.`,
}
