/** The texts depend on these parts of the service's settings. */
export interface ServiceFacts {
  app: string
  /** This tells whether accounts can have passwords. */
  passwords: boolean
}

/** These are the words of a notice without its ending, which depends on what the user can do about it. */
export interface NoticeWords {
  subject: string
  heading: string
  /** These paragraphs say who did what. */
  what: readonly string[]
}

interface EndingWords {
  /** This is the button's label. */
  button?: string
  /** These paragraphs say what to do, and what happens to those who ignore the message. */
  advice: readonly string[]
  /** This says how long the link is good, if not until the time of the message. */
  life?: string
}

export type Words = NoticeWords & EndingWords

/** The subject names the application, and the heading does not. */
export const titles = (app: string, title: (of: string) => string) => ({
  subject: title(`${app} `),
  heading: title(''),
})

export const NOTHING_TO_DO = 'If it was you, you have nothing to do.'

const unexpected = (app: string): string => `If you did not expect this, ask the people who run ${app}.`

/** The text names the effect of the buttons that stop an attacker. */
export const lockOut = (passwords: boolean): string =>
  passwords ? 'logs out everyone, and lets you choose a new password' : 'logs out everyone'

/** Messages share these texts. The texts of each kind are in link-texts.ts and notice-texts.ts. */
export const messageTexts = {
  lang: 'en',
  /** This is the format of dates and times. */
  locale: 'en-GB',
  /** These are the endings of notices. */
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

  /** It stands above the plain address. */
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
