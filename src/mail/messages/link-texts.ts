import type { LinkKind, MessageOf } from '../message.ts'
import { lockOut, NOTHING_TO_DO, type ServiceFacts, titles, type Words } from './texts.ts'

const KEEP_LINK = 'Don’t pass the link on: it lets anyone into your account.'

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

/** These are the words of the messages that bring a link, or the answer that there is none. */
export const linkTexts: LinkTexts = {
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
