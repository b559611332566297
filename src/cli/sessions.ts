import type { Command } from 'commander'
import { AppError } from '../lib/errors.ts'
import { toTimestamp } from '../lib/time.ts'
import { deviceName } from '../pages/device.ts'
import type { CommandContext } from './command-context.ts'
import { addCommand, type JsonOption, withJson } from './help.ts'
import { confirms, requireConfirmable, withYes, type YesOption } from './terminal/confirmation.ts'
import { print, printJson, printList, toMinute } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'
import { type Core, type RecordEvent, requireUser, type User, withCore } from './with-core.ts'

type Session = Awaited<ReturnType<Core['sessions']['list']>>['sessions'][number]

interface RevokeOptions extends JsonOption, YesOption {
  session?: string
  all?: boolean
}

const ALL = Number.MAX_SAFE_INTEGER

/** `svc sessions`: where somebody is signed in. */
export const addSessions = (program: Command, context: CommandContext): void => {
  const sessions = addCommand(program, 'sessions', 'list and end sessions', [
    'svc sessions list ada@example.com',
    'svc sessions revoke ada',
    'svc sessions revoke --all',
  ]).addHelpText('after', '\nA USER is named by id, email or username.')
  addList(sessions, context)
  addRevoke(sessions, context)
}

const addList = (sessions: Command, { loadConfig }: CommandContext): void => {
  const list = addCommand(sessions, 'list <user>', 'list where a user is signed in, the last seen first', [
    'svc sessions list ada@example.com',
    'svc sessions list ada --json',
  ])
  withJson(list).action((name: string, { json }: JsonOption) =>
    withCore(loadConfig(), async (core) => {
      const user = await requireUser(core, name)
      const listing = { columns: COLUMNS, toJson: sessionToJson, empty: `${user.email} is signed in nowhere` }
      await printList([(await core.sessions.list(user.id, ALL)).sessions], listing, json)
    }),
  )
}

const addRevoke = (sessions: Command, { loadConfig }: CommandContext): void => {
  const revoke = addCommand(sessions, 'revoke [user]', 'sign a user out everywhere, or everybody, or end one session', [
    'svc sessions revoke ada@example.com',
    'svc sessions revoke ada --session 019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b',
    'svc sessions revoke --all',
  ])
    .option('--session <id>', 'end this session only')
    .option('--all', 'end all sessions of all users, as after a backup was restored')
  withYes(withJson(revoke)).action((name: string | undefined, options: RevokeOptions) => {
    const { session, all, yes, json } = options
    if (all) {
      if (name !== undefined || session !== undefined) revoke.error('error: --all is for all users: give nothing else')
      requireConfirmable(revoke, yes)
      return withCore(loadConfig(), (core, record) => revokeAll(core, options, record))
    }
    if (name === undefined) return revoke.error('error: name a user, or give --all')
    return withCore(loadConfig(), async (core, record) => {
      const user = await requireUser(core, name)
      const ended = session ? await endOne(core, user, session) : await core.sessions.endAll(user.id)
      record('sessions revoke', 'session_end', { userId: user.id, endedSessionId: session, count: ended })
      await (json ? printJson({ user_id: user.id, ended }) : print(`${countOf(ended)} of ${user.email} ended.\n`))
    })
  })
}

const revokeAll = async ({ sessions }: Core, { yes, json }: RevokeOptions, record: RecordEvent): Promise<void> => {
  if (!yes && !(await confirms('End all sessions of all users?'))) throw new AppError('forbidden', 'nothing was ended')
  const ended = await sessions.endEverySession()
  record('sessions revoke', 'session_end', { count: ended })
  await (json ? printJson({ ended }) : print(`${countOf(ended)} ended. Everybody has to log in again.\n`))
}

const endOne = async ({ sessions }: Core, user: User, id: string): Promise<number> => {
  try {
    await sessions.endOwn(user.id, id)
    return 1
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error
    throw new AppError('not_found', `${user.email} has no session ${JSON.stringify(id)}, or it has ended already`)
  }
}

const countOf = (count: number): string => (count === 1 ? '1 session' : `${count} sessions`)

const COLUMNS: Column<Session>[] = [
  // Never cut: it is what `revoke --session` takes.
  { title: 'id', value: ({ id }) => id },
  { title: 'device', value: ({ userAgent }) => deviceName(userAgent), least: 7 },
  { title: 'address', value: ({ address }) => address, least: 9 },
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
