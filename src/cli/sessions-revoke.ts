import type { Command } from 'commander'
import { AppError } from '../lib/errors.ts'
import type { User } from '../accounts/accounts.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { confirm, requireTerminalOrYes, withYes, type YesOption } from './terminal/confirmation.ts'
import { print, printJson } from './terminal/output.ts'
import { type Core, type LogEvent, requireUser, withCore } from './with-core.ts'

interface RevokeOptions extends JsonOption, YesOption {
  session?: string
  all?: boolean
}

/** `svc sessions revoke` */
export const addSessionsRevoke = (sessions: Command, { loadConfig }: CommandContext): void => {
  const revoke = addCommand(sessions, 'revoke [user]', 'end all sessions of a user or of all users, or one session', [
    'svc sessions revoke ada@example.com',
    'svc sessions revoke ada --session 019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b',
    'svc sessions revoke --all',
  ])
    .option('--session <id>', 'end this session only')
    .option('--all', 'end all sessions of all users, for example after restoring a backup')
  withYes(withJson(revoke)).action((name: string | undefined, options: RevokeOptions) => {
    const { session, all, yes } = options
    if (all) {
      if (name !== undefined || session !== undefined)
        revoke.error('error: --all ends the sessions of all users: do not name a user or a session')
      requireTerminalOrYes(revoke, yes)
      return withCore(loadConfig(), (core, logEvent) => revokeAll(core, options, logEvent))
    }
    if (name === undefined) return revoke.error('error: name a user, or give --all')
    return withCore(loadConfig(), (core, logEvent) => revokeOfUser(core, name, options, logEvent))
  })
}

const revokeAll = async ({ sessions }: Core, { yes, json }: RevokeOptions, logEvent: LogEvent): Promise<void> => {
  if (!yes && !(await confirm('End all sessions of all users?'))) throw new AppError('forbidden', 'nothing was ended')
  const ended = await sessions.endEverySession()
  logEvent('sessions revoke', 'session_end', { count: ended })
  await (json ? printJson({ ended }) : print(`${countText(ended)} ended. All users have to log in again.\n`))
}

const revokeOfUser = async (core: Core, name: string, { session, json }: RevokeOptions, logEvent: LogEvent) => {
  const user = await requireUser(core, name)
  const ended = session ? await endOne(core, user, session) : await core.sessions.endAll(user.id)
  logEvent('sessions revoke', 'session_end', { userId: user.id, endedSessionId: session, count: ended })
  await (json ? printJson({ user_id: user.id, ended }) : print(`${countText(ended)} of ${user.email} ended.\n`))
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

const countText = (count: number): string => (count === 1 ? '1 session' : `${count} sessions`)
