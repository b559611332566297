import type { Command } from 'commander'
import type { User } from '../accounts/accounts.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { passkeyNamesOf } from './passkey-names.ts'
import { printJson, printRecord } from './terminal/output.ts'
import { type AccountDetails, shownToJson, factorsToJson, userRecord, userToJson } from './user-output.ts'
import { type Core, requireUser, withCore } from './with-core.ts'

/** `svc users show` */
export const addUsersShow = (users: Command, { loadConfig }: CommandContext): void => {
  const show = addCommand(users, 'show <user>', 'show one user', [
    'svc users show ada@example.com',
    'svc users show ada --json',
  ])
  withJson(show).action((name: string, { json }: JsonOption) =>
    withCore(loadConfig(), async (core) => {
      const user = await requireUser(core, name)
      const details = await findDetails(core, user)
      if (!json) return printRecord(userRecord(user, details))
      return printJson({ ...userToJson(user), ...factorsToJson(details.factors), ...shownToJson(user, details) })
    }),
  )
}

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
