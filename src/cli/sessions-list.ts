import type { Command } from 'commander'
import { toTimestamp } from '../lib/time.ts'
import { deviceName } from '../pages/site/device.ts'
import type { Session } from '../sessions/sessions.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { printList, toMinute } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'
import { requireUser, withCore } from './with-core.ts'

const NO_LIMIT = Number.MAX_SAFE_INTEGER

/** `svc sessions list` */
export const addSessionsList = (sessions: Command, { loadConfig }: CommandContext): void => {
  const list = addCommand(sessions, 'list <user>', 'list the sessions of a user, the last seen first', [
    'svc sessions list ada@example.com',
    'svc sessions list ada --json',
  ])
  withJson(list).action((name: string, { json }: JsonOption) =>
    withCore(loadConfig(), async (core) => {
      const user = await requireUser(core, name)
      const listing = { columns: COLUMNS, toJson: sessionToJson, empty: `${user.email} has no sessions` }
      await printList([(await core.sessions.list(user.id, NO_LIMIT)).sessions], listing, json)
    }),
  )
}

const COLUMNS: Column<Session>[] = [
  // Never cut, because `revoke --session` takes the whole id.
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
