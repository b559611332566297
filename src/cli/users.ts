import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'
import { addCommand, type JsonOption, withJson } from './help.ts'
import { printJson, printList, printRecord } from './terminal/output.ts'
import { USER_COLUMNS, userRecord, userToJson } from './user-columns.ts'
import { addUserChanges } from './users-change.ts'
import { addUserCreation } from './users-create.ts'
import { addUserDeletion } from './users-delete.ts'
import { addSetPassword } from './users-password.ts'
import { type Core, requireUser, type User, withCore } from './with-core.ts'

const PAGE = 500

/** `svc users`: who has an account. */
export const addUsers = (program: Command, context: CommandContext): void => {
  const users = addCommand(program, 'users', 'list, show, create, change and delete accounts', [
    'svc users list',
    'svc users create ada@example.com --role admin',
    'svc users disable ada',
  ]).addHelpText('after', '\nA USER is named by id, email or username.')
  addList(users, context)
  addShow(users, context)
  addUserCreation(users, context)
  addSetPassword(users, context)
  addUserChanges(users, context)
  addUserDeletion(users, context)
}

const addList = (users: Command, { loadConfig }: CommandContext): void => {
  const list = addCommand(users, 'list', 'list all users, oldest first', [
    'svc users list',
    'svc users list --json | jq -r ".[] | select(.disabled) | .email"',
  ])
  withJson(list).action(({ json }: JsonOption) =>
    withCore(loadConfig(), (core) => {
      const listing = { columns: USER_COLUMNS, toJson: userToJson, empty: 'there are no users yet' }
      return printList(pagesOf(core), listing, json)
    }),
  )
}

async function* pagesOf({ users }: Core): AsyncGenerator<User[]> {
  let after = ''
  for (;;) {
    const page = await users.list({ after, limit: PAGE })
    yield page
    const last = page.at(-1)
    if (!last || page.length < PAGE) return
    after = last.id
  }
}

const waysOf = async ({ users, oauth }: Core, { id }: User): Promise<string[]> => {
  const hasPassword = await users.hasPassword(id)
  const linked = await oauth.list(id, hasPassword)
  return [
    ...(hasPassword ? ['password'] : []),
    ...linked.map(({ provider, email }) => (email === undefined ? provider : `${provider} (${email})`)),
  ]
}

const addShow = (users: Command, { loadConfig }: CommandContext): void => {
  const show = addCommand(users, 'show <user>', 'show one user', [
    'svc users show ada@example.com',
    'svc users show ada --json',
  ])
  withJson(show).action((name: string, { json }: JsonOption) =>
    withCore(loadConfig(), async (core) => {
      const user = await requireUser(core, name)
      if (json) return printJson(userToJson(user))
      const { count } = await core.sessions.list(user.id, 1)
      return printRecord(userRecord(user, { sessions: count, waysToSignIn: await waysOf(core, user) }))
    }),
  )
}
