import { InvalidArgumentError } from 'commander'
import { shownSmtp } from '../config/mail-parsers.ts'
import { parser } from '../config/parsers.ts'
import { findAsciiForm, readEmail } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'
import { toTimestamp } from '../lib/time.ts'
import type { OutboxMessage } from '../mail/mail.ts'
import { command, group, LIST_LIMIT, option } from './command/command.ts'
import { SMTP_HINTS } from './doctor/findings.ts'
import { print, printJson } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'
import { timestampOrNull, toMinute } from './terminal/text.ts'

const address = parser('an email address such as ada@example.com', (text) => {
  const ascii = findAsciiForm(text)
  if (ascii) throw new InvalidArgumentError(`It must be an email address such as ${ascii}.`)
  return readEmail(text)?.shown
})

const test = command({
  args: { name: '<address>', text: 'the recipient', parser: address },
  text: 'send a test message, and say what is wrong if that fails',
  examples: ['svc mail test ada@example.com'],
  async run({ json, loadConfig, withCore }, to: string) {
    const config = loadConfig()
    if (!config.smtp) throw new AppError('invalid_request', 'mail is off: set SVC_SMTP_URL and SVC_MAIL_FROM')
    const server = shownSmtp(config.smtp)
    await withCore(async ({ core }) => {
      const { problem, step, code } = await core.mail.sendTest(to)
      const result = { server, to, sent: problem === undefined, step: step ?? null, code: code ?? null }
      if (json) await printJson({ ...result, problem: problem ?? null })
      if (step !== undefined)
        throw new AppError('unavailable', `the message was not sent: ${problem}. ${SMTP_HINTS[step]}`)
      if (!json) await print(`${server} has taken a test message for ${to}.\n`)
    }, config)
  },
})

const TONES = { requested: 'yellow', waiting: 'yellow', sent: 'green', failed: 'red', dropped: 'red' } as const

const outcomeOf = ({ state, problem }: OutboxMessage): string => (problem === null ? state : `${state} (${problem})`)

const COLUMNS: Column<OutboxMessage>[] = [
  // This column is never cut, because `resend` takes the whole id.
  { title: 'id', value: ({ id }) => id },
  { title: 'purpose', value: ({ purpose }) => purpose },
  { title: 'to', value: ({ recipient }) => recipient ?? '(forgotten)', minWidth: 12 },
  { title: 'outcome', value: outcomeOf, minWidth: 10, tone: ({ state }) => TONES[state] },
  { title: 'created (UTC)', value: ({ createdAtMs }) => toMinute(createdAtMs) },
  { title: 'attempts', value: ({ attempts }) => String(attempts), optional: true },
]

/** The content of a message is left out, because it holds a token. */
const messageToJson = (message: OutboxMessage) => ({
  id: message.id,
  purpose: message.purpose,
  to: message.recipient,
  user_id: message.userId,
  state: message.state,
  attempts: message.attempts,
  problem: message.problem,
  created_at: toTimestamp(message.createdAtMs),
  expires_at: toTimestamp(message.expiresAtMs),
  next_attempt_at: message.closedAtMs === null ? toTimestamp(message.nextAttemptAtMs) : null,
  closed_at: timestampOrNull(message.closedAtMs),
})

const list = command({
  text: 'list messages and their state, the newest first',
  examples: ['svc mail list', 'svc mail list --failed --limit 500 --json | jq -r ".[].id"'],
  notes: 'What a message says is never shown, because it may hold a link into an account.',
  options: {
    limit: option.parsed('--limit <count>', 'maximum number of messages', LIST_LIMIT, 50),
    failed: option.flag('--failed', 'only messages that were given up'),
  },
  run: ({ options, list: printAll, withCore }) =>
    withCore(async ({ core }) => {
      const messages = await core.mail.list(options.limit, options.failed)
      const empty = `there are no ${options.failed ? 'failed ' : ''}messages`
      await printAll([messages], { columns: COLUMNS, toJson: messageToJson, empty })
    }),
})

const resend = command({
  args: '<id>',
  text: 'send a message again, with the same id',
  examples: ['svc mail resend 019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b'],
  notes: 'The running service sends it. A message can be sent again for a week, while its link lives.',
  json: false,
  run: ({ withCore }, id: string) =>
    withCore(async ({ core }) => {
      const { purpose } = await core.mail.resend(id)
      await print(`${purpose} ${id}: waiting for the running service to send it.\n`)
    }),
})

export const mail = group({
  text: 'test the mail server, list messages, send them again',
  examples: ['svc mail test ada@example.com', 'svc mail list'],
  commands: { test, list, resend },
})
