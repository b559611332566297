import { type Command, InvalidArgumentError } from 'commander'
import { isUuid } from '../lib/uuid.ts'
import type { User, UserFilter } from '../accounts/accounts.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { printList } from './terminal/output.ts'
import { USER_COLUMNS, userToJson } from './user-output.ts'
import { type Core, withCore } from './with-core.ts'

const PAGE_SIZE = 500

interface ListOptions extends JsonOption, UserFilter {
  limit?: number
  after?: string
}

/** `svc users list` */
export const addUsersList = (users: Command, { loadConfig }: CommandContext): void => {
  const list = addCommand(users, 'list', 'list users, oldest first', [
    'svc users list',
    'svc users list --search @example.com --role admin',
    'svc users list --limit 100 --after 01a1fde0-3668-7ac6-b80c-80fdb35c9a45',
    'svc users list --json | jq -r ".[] | select(.disabled) | .email"',
  ])
    .option('--search <text>', 'only users with this text in email or username, in upper or lower case')
    .option('--role <role>', 'only users with this role')
    .option('--disabled', 'only disabled users')
    .option('--limit <count>', 'maximum number of users', parseLimit)
    .option('--after <id>', 'only users who come after the one with this id', parseId)
  withJson(list).action(({ json, limit = Number.POSITIVE_INFINITY, after = '', ...filter }: ListOptions) =>
    withCore(loadConfig(), (core) => {
      const isFiltered = after !== '' || Object.keys(filter).length > 0
      const empty = isFiltered ? 'there are no such users' : 'there are no users yet'
      return printList(
        pagesOf(core, filter, { after, limit }),
        { columns: USER_COLUMNS, toJson: userToJson, empty },
        json,
      )
    }),
  )
}

async function* pagesOf(
  { users }: Core,
  filter: UserFilter,
  { after, limit }: { after: string; limit: number },
): AsyncGenerator<User[]> {
  for (let left = limit; left > 0; ) {
    const page = await users.list({ ...filter, after, limit: Math.min(left, PAGE_SIZE) })
    yield page
    const last = page.at(-1)
    if (!last || page.length < PAGE_SIZE) return
    after = last.id
    left -= page.length
  }
}

const parseLimit = (text: string): number => {
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (limit >= 1) return limit
  throw new InvalidArgumentError('It must be a whole number from 1 to 999999999.')
}

const parseId = (text: string): string => {
  const id = text.trim().toLowerCase()
  if (isUuid(id)) return id
  throw new InvalidArgumentError('It must be the id of a user, as svc users list shows it.')
}
