import type { LinkKind, MessageOf } from '../message.ts'
import { type NoticeTexts, type NoticeWords, type ServiceFacts, titles } from './notice-words.ts'
import { secondFactorNotices } from './second-factor-texts.ts'

interface EndingWords {
  /** The button's label. */
  button?: string
  /** Paragraphs: what to do, and what happens to those who ignore the message. */
  advice: readonly string[]
  /** How long the link is good, if not until the time of the message. */
  life?: string
}

/** What a message says, without its links and facts. */
export type Words = NoticeWords & EndingWords

const KEEP_LINK = 'Don’t pass the link on: it lets anyone into your account.'
const NOTHING_TO_DO = 'If it was you, you have nothing to do.'

const unexpected = (app: string): string => `If you did not expect this, ask the people who run ${app}.`

/** What the buttons do that stop an attacker. */
const lockOut = (passwords: boolean): string =>
  passwords ? 'logs out everyone, and lets you choose a new password' : 'logs out everyone'

const passwordWords = ({ how, by }: MessageOf<'password_changed'>, app: string): NoticeWords => {
  const ended =
    how === 'reset' || by === 'operator' ? 'Every session was logged out.' : 'Every other session was logged out.'
  if (how === 'set')
    return {
      ...titles(app, (of) => `Your ${of}account has a password now`),
      what: [`Your ${app} account had no password, and now it has one. ${ended}`],
    }
  return {
    ...titles(app, (of) => `Your ${of}password was ${how}`),
    what: [
      how === 'changed'
        ? `The password of your ${app} account was changed. ${ended}`
        : `A new password was chosen for your ${app} account, with a link for those who forgot theirs. ${ended}`,
    ],
  }
}

const limitedWords = ({ logins }: MessageOf<'login_limited'>, { app }: ServiceFacts): NoticeWords => {
  const tried = `Someone has tried many times to log in to your ${app} account`
  const what = {
    in_network: `${tried}, and failed each time. From there, no more tries are taken for a while, except in browsers in which you have logged in before.`,
    anywhere: `${tried}, and failed each time. For a while, no more tries are taken from anywhere, except in browsers in which you have logged in before. The device and the address below are those of the last try.`,
    in_known_browser: `${tried} in a browser in which you have logged in before, and failed each time. In that browser, no more tries are taken for a while.`,
  }
  return { ...titles(app, (of) => `Too many tries to log in to your ${of}account`), what: [what[logins]] }
}

const undoWords = ({ step, email, newEmail, by }: MessageOf<'undo'>, { app, passwords }: ServiceFacts): Words => {
  const from = `the email address of your ${app} account from ${email} to ${newEmail}`
  if (step === 'requested')
    return {
      ...titles(app, (of) => `Your ${of}email address is about to change`),
      what: [`Someone who is logged in asked to change ${from}. It changes when the new address is confirmed.`],
      button: 'Stop this change',
      advice: [NOTHING_TO_DO, `If it wasn’t you, stop it: that ${lockOut(passwords)}.`],
      life: 'The link works once, until 72 hours after the change.',
    }
  const byOperator = by === 'operator'
  return {
    ...titles(app, (of) => `Your ${of}email address was changed`),
    what: [`${byOperator ? `The people who run ${app}` : 'Someone who was logged in'} changed ${from}.`],
    button: 'Put my address back',
    advice: [
      byOperator ? 'If that is what you want, you have nothing to do.' : NOTHING_TO_DO,
      `If ${byOperator ? 'not' : 'it wasn’t you'}, put your address back: that ${lockOut(passwords)}.`,
    ],
  }
}

type LinkTexts = {
  [Kind in LinkKind]: (message: MessageOf<Kind>, service: ServiceFacts) => Words
}

const links: LinkTexts = {
  reset: ({ by }, { app, passwords }) => ({
    subject: passwords ? `Choose a new password for ${app}` : `Get back into your ${app} account`,
    heading: passwords ? 'Choose a new password' : 'Get back into your account',
    what: [
      by === 'operator'
        ? `The people who run ${app} sent you a link with which you get back into your account.`
        : `Someone asked for a way back into your ${app} account. If it was you, ${passwords ? 'choose a new password' : 'go on here'}.`,
    ],
    button: passwords ? 'Choose a new password' : 'Get back in',
    advice: [
      `${by === 'operator' ? 'If you don’t need it' : 'If it wasn’t you'}, ignore this message, and nothing changes. ${KEEP_LINK}`,
    ],
  }),
  verify: (_message, { app }) => ({
    subject: `Confirm your email address for ${app}`,
    heading: 'Confirm your email address',
    what: [`Someone entered this email address for an account at ${app}. If it was you, confirm that it is yours.`],
    button: 'Confirm my address',
    advice: ['If it wasn’t you, ignore this message, and your address stays unconfirmed.'],
  }),
  first_factor: (_message, { app, passwords }) => ({
    subject: `Set up another way to prove that it’s you at ${app}`,
    heading: 'Was it you?',
    what: [
      `Someone who is logged in to your ${app} account wants to set up a passkey or codes from an app, in a browser that is new to your account. From then on these are asked for. If it was you, go on in the same browser.`,
    ],
    button: 'It was me, go on',
    advice: [
      `If it wasn’t you, do not open the link: ${passwords ? 'someone knows your password. Choose a new one at once.' : `someone is in your account. Log in, and end all other sessions on your account page.`}`,
    ],
  }),
  account_exists: (_message, { app }) => ({
    subject: `You have an account at ${app} already`,
    heading: 'You have an account already',
    what: [
      `Someone entered this email address for a new account at ${app}. If it was you, log in to the one you have.`,
    ],
    button: 'Log in',
    advice: [
      'If you can’t log in any more, that page helps you on.',
      'If it wasn’t you, ignore this message. Nothing was changed, and nobody was told that you have an account.',
    ],
  }),
  new_email: (_message, { app }) => ({
    subject: `Confirm your new email address for ${app}`,
    heading: 'Confirm your new email address',
    what: [
      `Someone wants to use this email address for their ${app} account. If it was you, confirm that it is yours. Until then, your account keeps the address that it has.`,
    ],
    button: 'Use this address',
    advice: ['If it wasn’t you, ignore this message, and your address is not used.'],
  }),
  email_taken: (_message, { app }) => ({
    subject: `This address has an account at ${app} already`,
    heading: 'This address has an account already',
    what: [
      `Someone asked to use this email address for another ${app} account. It has an account of its own, so nothing was changed.`,
    ],
    advice: [
      'If it was you, log in to the account of this address, and delete it or give it another address. Then try again.',
      'If it wasn’t you, ignore this message. Nobody was told that you have an account.',
    ],
  }),
  email_reserved: (_message, { app }) => ({
    subject: `This address cannot be used at ${app} yet`,
    heading: 'This address cannot be used yet',
    what: [
      `Someone wanted to use this email address for an account at ${app}. Another account had it until a short time ago. For 72 hours after such a change the address is kept free, so that it can be put back.`,
    ],
    advice: [
      'If it was you, try again later. If that account is yours, the link in our message about the change puts the address back.',
      'If it wasn’t you, ignore this message. Nothing was changed.',
    ],
  }),
  email_left: (_message, { app }) => ({
    subject: `An account at ${app} no longer has this address`,
    heading: 'Your address was removed from an account',
    what: [
      `An account at ${app} had this email address, which nobody had confirmed. It has another one now, and you get no more messages about it.`,
    ],
    advice: [
      'If it was you, or if the account was never yours, you have nothing to do.',
      `If it is your account, and you did not change its address, ask the people who run ${app}.`,
    ],
  }),
  test: (_message, { app }) => ({
    subject: `Test message from ${app}`,
    heading: 'Test message',
    what: [`An operator of ${app} sent this message to see whether mail works. It does.`],
    advice: ['You have nothing to do.'],
  }),
  invite: (_message, { app }) => ({
    subject: `You are invited to ${app}`,
    heading: `You are invited to ${app}`,
    what: [
      `The people who run ${app} made an account for this email address. Choose how you want to log in, and it’s yours.`,
    ],
    button: 'Accept the invitation',
    advice: [`If you don’t want it, ignore this message, and the account stays closed. ${KEEP_LINK}`],
  }),
  undo: undoWords,
}

const notices: NoticeTexts = {
  email_changed: ({ oldEmail, newEmail }, { app }) => ({
    ...titles(app, (of) => `Your ${of}email address was changed`),
    what: [`The email address of your ${app} account is ${newEmail} now. It was ${oldEmail} before.`],
  }),
  username_changed: ({ oldUsername, newUsername }, { app }) => ({
    ...titles(app, (of) => `Your ${of}username was changed`),
    what: [`The username of your ${app} account is ${newUsername} now. It was ${oldUsername} before.`],
  }),
  password_changed: (message, { app }) => passwordWords(message, app),
  provider_connected: ({ provider }, { app }) => ({
    ...titles(app, (of) => `${provider} was connected to your ${of}account`),
    what: [`${provider} was connected to your ${app} account. It logs you in from now on.`],
  }),
  provider_removed: ({ provider }, { app }) => ({
    ...titles(app, (of) => `${provider} was disconnected from your ${of}account`),
    what: [`${provider} was disconnected from your ${app} account. It no longer logs you in.`],
  }),
  ...secondFactorNotices,
  account_deleted: (_message, { app }) => ({
    ...titles(app, (of) => `Your ${of}account was deleted`),
    what: [`Your ${app} account was deleted. This can’t be undone.`],
  }),
  account_taken_over: ({ email, by }, { app, passwords }) => ({
    ...titles(app, (of) => `Your ${of}account is yours alone now`),
    what: [
      `Someone made an account at ${app} with ${email}, and never showed that this address is theirs. ${by === 'operator' ? `The people who run ${app} gave the account to you.` : 'You have shown it, and so the account is yours.'}`,
      `Everything that got into it before has ended: its ${passwords ? 'password, sessions and connections' : 'sessions and connections'}. What is in it stays, and is yours.`,
    ],
  }),
  login_limited: limitedWords,
  new_browser: (_message, { app }) => ({
    ...titles(app, (of) => `New login to your ${of}account`),
    what: [`Someone logged in to your ${app} account, in a browser that is new to us.`],
  }),
}

/** All texts of the messages. Another language would be another object of this type. */
export const messageTexts = {
  lang: 'en',
  /** For dates and times. */
  locale: 'en-GB',
  links,
  notices,

  /** How notices end. */
  endings: {
    not_me: ({ passwords }: ServiceFacts): EndingWords => ({
      button: 'This wasn’t me',
      advice: [NOTHING_TO_DO, `If it wasn’t you, tell us so: that ends it, ${lockOut(passwords)}.`],
    }),
    way_back: ({ passwords }: ServiceFacts): EndingWords => ({
      button: passwords ? 'Reset my password' : 'Secure my account',
      advice: [
        NOTHING_TO_DO,
        passwords
          ? 'If it wasn’t you, reset your password now: that logs out everyone.'
          : 'If it wasn’t you, secure your account now: that logs out everyone.',
      ],
    }),
    tried: ({ passwords }: ServiceFacts): EndingWords => ({
      button: passwords ? 'Reset my password' : 'Secure my account',
      advice: passwords
        ? [
            'If it was you, wait a little, or choose a new password.',
            'If it wasn’t you, you need a new password only if you use yours elsewhere too, or if it is easy to guess.',
          ]
        : ['If it was you, wait a little.', 'If it wasn’t you, nothing has happened to your account.'],
    }),
    wrong_codes: ({ app, passwords }: ServiceFacts): EndingWords => ({
      button: passwords ? 'Choose a new password' : 'Secure my account',
      advice: [
        'If it was you, you have nothing to do. A recovery code lets you in where your phone does not.',
        passwords
          ? 'If it wasn’t you, someone knows your password, or reads your mail: choose a new password now, and make your mailbox safe.'
          : `If it wasn’t you, someone reads your mail, or gets into the account with which you log in to ${app}: make both safe.`,
      ],
    }),
    own_password: ({ app }: ServiceFacts): EndingWords => ({
      button: 'Choose my password',
      advice: ['Choose a password of your own, so that nobody else knows it.', unexpected(app)],
    }),
    account: ({ app }: ServiceFacts): EndingWords => ({ button: 'See my account', advice: [unexpected(app)] }),
    gone: ({ app }: ServiceFacts): EndingWords => ({
      advice: [`If you did not want this, ask the people who run ${app}.`],
    }),
    former_address: ({ app }: ServiceFacts): EndingWords => ({
      advice: [
        'You get a copy here, since the account had this address until a short time ago.',
        `If it wasn’t you who changed that, use the link in our message about it, or ask the people who run ${app}.`,
      ],
    }),
  },

  /** Above the link in plain. */
  linkBelow: 'If the button does not work, open this address:',
  linkLife: (until: string): string => `The link works once, until ${until}.`,
  inUtc: (dateAndTime: string): string => `${dateAndTime} UTC`,

  email: 'Email',
  time: 'Time',
  device: 'Device',
  deviceOn: (browser: string, system: string): string => `${browser} on ${system}`,
  deviceUnknown: 'Unknown device',
  networkAddress: 'Network address',
  by: 'By',
  operators: (app: string): string => `The people who run ${app}`,

  sentBy: (app: string, host: string): string => (app === host ? `Sent by ${host}.` : `Sent by ${app}, ${host}.`),
  helpAt: 'Need help? Go to',
  helpFrom: 'Need help? Write to',
}
