import type { Command } from 'commander'
import type { AccountFactors } from '../second-factor/second-factors.ts'
import type { User } from '../users/users.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { passkeyNamesOf } from './passkey-names.ts'
import { printJson, printRecord } from './terminal/output.ts'
import { factorsToJson, passkeysText, userRecord, userToJson } from './user-output.ts'
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
      const factors = await core.secondFactors.find(user.id)
      if (json) return printJson({ ...userToJson(user), ...factorsToJson(factors) })
      const { count } = await core.sessions.list(user.id, 1)
      return printRecord(
        userRecord(user, { sessions: count, signInMethods: await signInMethodsOf(core, user, factors), factors }),
      )
    }),
  )
}

const signInMethodsOf = async (core: Core, { id }: User, factors: AccountFactors): Promise<string[]> => {
  const hasPassword = await core.users.hasPassword(id)
  const linked = await core.oauth.listIdentities(id, hasPassword)
  return [
    ...(hasPassword ? ['password'] : []),
    ...linked.map(({ provider, email }) => (email === undefined ? provider : `${provider} (${email})`)),
    ...(factors.passkeys > 0 ? [passkeysText(await passkeyNamesOf(core, id))] : []),
  ]
}
