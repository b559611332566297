import { parser, wholeNumber } from '../config/parsers.ts'
import { isUuid } from '../lib/uuid.ts'
import type { User, UserFilter } from '../accounts/accounts.ts'
import { command, option } from './command/command.ts'
import { type Core, requireUser } from './command/with-core.ts'
import { printJson, printRecord } from './terminal/output.ts'
import {
  passkeyNamesOf,
  shownToJson,
  USER_COLUMNS,
  userRecord,
  userToJson,
  type AccountDetails,
} from './user-output.ts'

const userId = parser('the id of a user, as svc users list shows it', (text) => {
  const id = text.trim().toLowerCase()
  return isUuid(id) ? id : undefined
})

export const list = command({
  text: 'list users, oldest first',
  examples: [
    'svc users list',
    'svc users list --search @example.com --role admin',
    'svc users list --limit 100 --after 01a1fde0-3668-7ac6-b80c-80fdb35c9a45',
    'svc users list --json | jq -r ".[] | select(.disabled) | .email"',
  ],
  options: {
    search: option.text(
      '--search <text>',
      'only users with this text in email, username or name, in upper or lower case',
    ),
    role: option.text('--role <role>', 'only users with this role'),
    disabled: option.flag('--disabled', 'only disabled users'),
    limit: option.parsed('--limit <count>', 'maximum number of users', wholeNumber(1, 999_999_999)),
    after: option.parsed('--after <id>', 'only users who come after the one with this id', userId),
  },
  run: (call) =>
    call.withCore(({ core }) => {
      const { limit = Number.POSITIVE_INFINITY, after = '', ...filter } = call.options
      const isFiltered = after !== '' || Object.values(filter).some((given) => given !== undefined)
      return call.list(pagesOf(core, filter, { after, limit }), {
        columns: USER_COLUMNS,
        toJson: userToJson,
        empty: isFiltered ? 'there are no such users' : 'there are no users yet',
      })
    }),
})

const PAGE_SIZE = 500

interface Part {
  after: string
  limit: number
}

async function* pagesOf(core: Core, filter: UserFilter, { after, limit }: Part): AsyncGenerator<User[]> {
  let left = limit
  for await (const page of filter.search === undefined ? allOf(core, filter, after) : foundBy(core, filter, after)) {
    yield page.slice(0, left)
    left -= page.length
    if (left <= 0) return
  }
}

/** A search may use an index, which lists users in the order in which svc got to know them: that of their ids, or near it. */
async function* foundBy({ loadDirectory }: Core, filter: UserFilter, after: string): AsyncGenerator<User[]> {
  for await (const page of (await loadDirectory()).each(filter, after))
    yield page.map((user) => ({ ...user, name: user.name ?? null }))
}

async function* allOf({ users }: Core, filter: UserFilter, after: string): AsyncGenerator<User[]> {
  for (let last = after; ; ) {
    const page = await users.list({ ...filter, after: last, limit: PAGE_SIZE })
    yield page
    const end = page.at(-1)
    if (!end || page.length < PAGE_SIZE) return
    last = end.id
  }
}

export const show = command({
  args: '<user>',
  text: 'show one user',
  examples: ['svc users show ada@example.com', 'svc users show ada --json'],
  run: ({ json, withCore }, name: string) =>
    withCore(async ({ core }) => {
      const user = await requireUser(core, name)
      const details = await findDetails(core, user)
      await (json ? printJson(shownToJson(user, details)) : printRecord(userRecord(user, details)))
    }),
})

const findDetails = async (core: Core, { id }: User): Promise<AccountDetails> => {
  const factors = await core.secondFactors.find(id)
  const password = await core.users.hasPassword(id)
  const { count } = await core.sessions.list(id, 1)
  return {
    sessions: count,
    password,
    identities: await core.oauth.listIdentities(id, password),
    passkeyNames: factors.passkeys > 0 ? await passkeyNamesOf(core, id) : [],
    factors,
  }
}
