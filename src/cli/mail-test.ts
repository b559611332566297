import { type Command, InvalidArgumentError } from 'commander'
import { shownSmtp } from '../config/mail-parsers.ts'
import { findAsciiForm, readEmail } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'
import type { SmtpStep } from '../mail/mail.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { print, printJson } from './terminal/output.ts'
import { withCore } from './with-core.ts'

/** `svc mail test` */
export const addMailTest = (mail: Command, { loadConfig }: CommandContext): void => {
  const test = addCommand(mail, 'test', 'send a test message, and say what is wrong if that fails', [
    'svc mail test ada@example.com',
  ]).argument('<address>', 'the recipient', parseAddress)
  withJson(test).action(async (to: string, { json }: JsonOption) => {
    const config = loadConfig()
    if (!config.smtp) throw new AppError('invalid_request', 'mail is off: set SVC_SMTP_URL and SVC_MAIL_FROM')
    const server = shownSmtp(config.smtp)
    await withCore(config, async (core) => {
      const { problem, step, code } = await core.mail.sendTest(to)
      const result = { server, to, sent: problem === undefined, step: step ?? null, code: code ?? null }
      if (json) await printJson({ ...result, problem: problem ?? null })
      if (step !== undefined)
        throw new AppError('unavailable', `the message was not sent: ${problem}. ${SMTP_HINTS[step]}`)
      if (!json) await print(`${server} has taken a test message for ${to}.\n`)
    })
  })
}

const parseAddress = (text: string): string => {
  const email = readEmail(text)
  if (email) return email.shown
  throw new InvalidArgumentError(`It must be an email address such as ${findAsciiForm(text) ?? 'ada@example.com'}.`)
}

/** What to look at when a step fails. */
export const SMTP_HINTS: Record<SmtpStep, string> = {
  name: 'Check the host in SVC_SMTP_URL, and the name server of this machine.',
  connection: 'Check host and port in SVC_SMTP_URL, and whether a firewall blocks the port: many networks block 25.',
  greeting: 'Check the port in SVC_SMTP_URL: 587 is usual with smtp://, and 465 with smtps://.',
  tls: 'Check scheme and port in SVC_SMTP_URL: 587 is usual with smtp://, and 465 with smtps://.',
  certificate:
    'The host in SVC_SMTP_URL must be a name of the certificate. NODE_EXTRA_CA_CERTS names an authority of your own.',
  authentication:
    'Check user and password in SVC_SMTP_URL: both are percent-encoded, and many providers want an API key or an app password.',
  sender: 'SVC_MAIL_FROM must be an address from which this user may send.',
  recipient: 'Try another address: the server may send to some only, or may want a user and a password.',
  message: 'The server has the last word: ask its operator.',
}
