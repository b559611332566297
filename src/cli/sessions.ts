import { AppError } from '../lib/errors.ts'
import { toTimestamp } from '../lib/time.ts'
import { deviceName } from '../web/site/device.ts'
import type { Session } from '../sessions/sessions.ts'
import type { User } from '../accounts/accounts.ts'
import { command, group, option } from './command/command.ts'
import { type Core, requireUser } from './command/with-core.ts'
import { confirm, requireTerminalOrYes } from './terminal/prompt.ts'
import type { Column } from './terminal/table.ts'
import { countText, toMinute } from './terminal/text.ts'

const NO_LIMIT = Number.MAX_SAFE_INTEGER

const COLUMNS: Column<Session>[] = [
  // This column is never cut, because `revoke --session` takes the whole id.
  { title: 'id', value: ({ id }) => id },
  { title: 'device', value: ({ userAgent }) => deviceName(userAgent), minWidth: 7 },
  { title: 'address', value: ({ address }) => address, minWidth: 9 },
  { title: 'last seen (UTC)', value: ({ lastSeenAtMs }) => toMinute(lastSeenAtMs) },
  { title: 'signed in (UTC)', value: ({ createdAtMs }) => toMinute(createdAtMs), optional: true },
]

const sessionToJson = (session: Session) => ({
  id: session.id,
  user_id: session.userId,
  device: deviceName(session.userAgent),
  user_agent: session.userAgent,
  address: session.address,
  created_at: toTimestamp(session.createdAtMs),
  last_seen_at: toTimestamp(session.lastSeenAtMs),
  expires_at: toTimestamp(session.expiresAtMs),
})

const list = command({
  args: '<user>',
  text: 'list the sessions of a user, the last seen first',
  examples: ['svc sessions list ada@example.com', 'svc sessions list ada --json'],
  run: (call, name: string) =>
    call.withCore(async ({ core }) => {
      const user = await requireUser(core, name)
      const { sessions: found } = await core.sessions.list(user.id, NO_LIMIT)
      await call.list([found], { columns: COLUMNS, toJson: sessionToJson, empty: `${user.email} has no sessions` })
    }),
})

const revoke = command({
  args: '[user]',
  text: 'end all sessions of a user or of all users, or one session',
  examples: [
    'svc sessions revoke ada@example.com',
    'svc sessions revoke ada --session 019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b',
    'svc sessions revoke --all',
  ],
  options: {
    session: option.text('--session <id>', 'end this session only'),
    all: option.flag('--all', 'end all sessions of all users, for example after restoring a backup'),
  },
  asks: true,
  run(call, name: string | undefined) {
    const { session, all } = call.options
    if (!all && name === undefined) return call.usageError('name a user, or give --all')
    if (all && (name ?? session) !== undefined)
      call.usageError('--all ends the sessions of all users: do not name a user or a session')
    if (all) requireTerminalOrYes(call)
    return call.withCore(async ({ core, logEvent }) => {
      if (name === undefined) {
        await confirm(call, 'End all sessions of all users?', 'nothing was ended')
        const ended = await core.sessions.endEverySession()
        logEvent('session_end', { count: ended })
        return call.result({ ended }, `${countText(ended, 'session')} ended. All users have to log in again.`)
      }
      const user = await requireUser(core, name)
      const ended = session ? await endOne(core, user, session) : await core.sessions.endAll(user.id)
      logEvent('session_end', { userId: user.id, endedSessionId: session, count: ended })
      return call.result({ user_id: user.id, ended }, `${countText(ended, 'session')} of ${user.email} ended.`)
    })
  },
})

const endOne = async ({ sessions: { endOwn } }: Core, user: User, id: string): Promise<number> => {
  try {
    await endOwn(user.id, id)
    return 1
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error
    throw new AppError('not_found', `${user.email} has no session ${JSON.stringify(id)}, or it has ended already`)
  }
}

export const sessions = group({
  text: 'list and end sessions',
  examples: ['svc sessions list ada@example.com', 'svc sessions revoke ada', 'svc sessions revoke --all'],
  notes: 'USER is an id, an email or a username.',
  commands: { list, revoke },
})
