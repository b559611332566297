import type { Command } from 'commander'
import type { User } from '../users/users.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { printList } from './terminal/output.ts'
import { USER_COLUMNS, userToJson } from './user-output.ts'
import { type Core, withCore } from './with-core.ts'

const PAGE_SIZE = 500

/** `svc users list` */
export const addUsersList = (users: Command, { loadConfig }: CommandContext): void => {
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
    const page = await users.list({ after, limit: PAGE_SIZE })
    yield page
    const last = page.at(-1)
    if (!last || page.length < PAGE_SIZE) return
    after = last.id
  }
}
