import type { ClientChanges, Registry } from '../clients/clients.ts'
import { AppError } from '../lib/errors.ts'
import { toTimestamp } from '../lib/time.ts'
import { type Call, command, group, LIST_LIMIT, option, type ValuesOf } from './command/command.ts'
import type { Opened } from './command/with-core.ts'
import { CLIENT_COLUMNS, clientToJson, printClient, printMade } from './client-output.ts'
import { printJson, printNotice } from './terminal/output.ts'
import { confirm } from './terminal/prompt.ts'

const TYPES = ['web', 'native', 'browser'] as const

const SETTINGS = {
  redirectUris: option.texts('--redirect-uri <uri>', 'users may be sent back to it; can be repeated'),
  logoutUris: option.texts('--logout-uri <uri>', 'a logout may lead to it; can be repeated'),
  backchannelLogoutUri: option.text('--backchannel-logout-uri <uri>', 'svc says there that a user has logged out'),
  scopes: option.words('--scope <scope>', 'what it may ask for; can be repeated; all but roles if left out'),
  resources: option.texts('--resource <uri>', 'what its tokens may be for; can be repeated; all if left out'),
  firstParty: option.flag('--first-party', 'it is yours: users are not asked for consent'),
  requireMfa: option.flag('--require-mfa', 'users need two-step verification for it'),
}

/** Commands work while `SVC_CLIENTS` is off, so that a client is there when it is switched on. */
const withRegistry = <Given, Result>(
  call: Call<Given>,
  work: (registry: Registry, opened: Opened) => Promise<Result>,
): Promise<Result> =>
  call.withCore(async (opened) => {
    if (!opened.config.clients) printNotice('SVC_CLIENTS is off: no client can be used before it is on')
    return work((await opened.core.loadClients()).registry, opened)
  })

const create = command({
  args: '<name>',
  text: 'make a client, and print its secret once',
  examples: [
    'svc clients create "Ada\'s notes" --redirect-uri https://notes.example.com/callback',
    'svc clients create notes-cli --type native --redirect-uri http://127.0.0.1/callback',
  ],
  notes: `Types:
  web       a server, which has a secret; the default
  native    a program on a computer or a telephone, which has none
  browser   a page without a server, which has none; its access ends with the session

Redirect URIs are compared byte for byte: https, or http on 127.0.0.1, [::1] or localhost with
any port, or for native a scheme of your own, such as com.example.notes:/callback.`,
  options: { type: option.choice('--type <type>', 'what it is', TYPES), ...SETTINGS },
  run(call, name: string) {
    const { type: given, redirectUris = [], scopes, ...others } = call.options
    if (redirectUris.length === 0) call.usageError('give at least one --redirect-uri')
    const type = TYPES.find((each) => each === given) ?? 'web'
    return withRegistry(call, async (registry, { logEvent }) => {
      const { logoutUris = [], resources = [], firstParty = false, requireMfa = false, backchannelLogoutUri } = others
      const uris = { redirectUris, logoutUris, backchannelLogoutUri }
      const fields = { name, type, ...uris, scopes, resources, firstParty, requireMfa }
      const made = await registry.create(fields, async (_, each) => each)
      logEvent('client_create', { clientId: made.client.id })
      warnOfSchemes(redirectUris)
      await printMade(call, made)
    })
  },
})

/** Two programs can claim a short word; a domain that is turned round is the program's own (RFC 8252 section 7.1). */
const warnOfSchemes = (uris: readonly string[]): void => {
  for (const scheme of new Set(uris.map((uri) => uri.slice(0, uri.indexOf(':'))))) {
    if (scheme === 'https' || scheme === 'http' || scheme.includes('.')) continue
    const better = 'a scheme such as com.example.notes: is nobody else’s'
    printNotice(`warning: other programs can claim the scheme ${scheme}: too; ${better}`)
  }
}

const list = command({
  text: 'list clients, the newest first',
  examples: ['svc clients list', 'svc clients list --json'],
  options: { limit: option.parsed('--limit <count>', 'maximum number of clients', LIST_LIMIT, 1000) },
  run: (call) =>
    withRegistry(call, async (registry) => {
      const empty = 'there are no clients yet: svc clients create makes one'
      await call.list([await registry.list(call.options.limit)], {
        columns: CLIENT_COLUMNS,
        toJson: clientToJson,
        empty,
      })
    }),
})

const show = command({
  args: '<client>',
  text: 'show a client',
  examples: ['svc clients show notes-cli', 'svc clients show https://agent.example/client.json --json'],
  run: (call, nameOrId: string) =>
    withRegistry(call, async (registry) => {
      const client = await registry.requireNamed(nameOrId)
      await (call.json ? printJson(clientToJson(client)) : printClient(client))
    }),
})

const CHANGES = {
  name: option.text('--name <name>', 'its name'),
  ...SETTINGS,
  // Both flags of a pair set the value of the first.
  noFirstParty: option.flag('--no-first-party', 'users are asked for consent'),
  noRequireMfa: option.flag('--no-require-mfa', 'users need no two-step verification for it'),
}

const change = command({
  args: '<client>',
  text: 'change what is given; lists are replaced',
  examples: [
    'svc clients change notes-cli --name "Notes for terminals"',
    'svc clients change notes-cli --redirect-uri http://127.0.0.1/callback --redirect-uri http://127.0.0.1/done',
    'svc clients change notes-cli --scope "" --resource ""',
  ],
  notes: 'An empty text takes a value away. Grants stay, with the scopes that they have.',
  options: CHANGES,
  run(call, nameOrId: string) {
    const changes = readChanges(call.options)
    if (Object.values(changes).every((value) => value === undefined)) call.usageError('give what to change')
    return withRegistry(call, async (registry, { logEvent }) => {
      const { id } = await registry.requireNamed(nameOrId)
      const client = await registry.change(id, changes)
      logEvent('client_change', { clientId: id })
      warnOfSchemes(changes.redirectUris ?? [])
      await (call.json ? printJson(clientToJson(client)) : printClient(client))
    })
  },
})

const withoutEmpty = (texts: string[] | undefined): string[] | undefined => texts?.filter((text) => text !== '')

const readChanges = (given: ValuesOf<typeof CHANGES>): ClientChanges => {
  const scopes = withoutEmpty(given.scopes)
  return {
    name: given.name,
    redirectUris: withoutEmpty(given.redirectUris),
    logoutUris: withoutEmpty(given.logoutUris),
    backchannelLogoutUri: given.backchannelLogoutUri === '' ? null : given.backchannelLogoutUri,
    scopes: scopes?.length === 0 ? null : scopes,
    resources: withoutEmpty(given.resources),
    firstParty: given.firstParty,
    requireMfa: given.requireMfa,
  }
}

const rotateSecret = command({
  args: '<client>',
  text: 'make a new secret; the former one stays good for 24 hours',
  examples: ['svc clients rotate-secret notes'],
  run: (call, nameOrId: string) =>
    withRegistry(call, async (registry, { logEvent }) => {
      const { id } = await registry.requireNamed(nameOrId)
      const rotated = await registry.rotateSecret(id, async (_, made) => made)
      logEvent('client_secret_rotate', { clientId: id })
      const until = toTimestamp(rotated.formerUntilMs)
      if (!call.json) printNotice(`the former secret is good until ${until}`)
      await printMade(call, rotated, { former_secret_until: until })
    }),
})

const disable = command({
  args: '<client>',
  text: 'end the access of a client, until it is enabled',
  examples: ['svc clients disable notes-cli'],
  run: (call, nameOrId: string) =>
    withRegistry(call, async (registry, { logEvent }) => {
      const { id } = await registry.requireNamed(nameOrId)
      const client = await registry.change(id, { disabled: true })
      logEvent('client_disable', { clientId: id })
      await call.result(clientToJson(client), `Disabled the client ${client.name}, id ${id}: its grants have ended.`)
    }),
})

const enable = command({
  args: '<client>',
  text: 'let a client that was disabled be used again',
  examples: ['svc clients enable notes-cli'],
  run: (call, nameOrId: string) =>
    withRegistry(call, async (registry, { logEvent }) => {
      const { id } = await registry.requireNamed(nameOrId)
      const client = await registry.change(id, { disabled: false })
      logEvent('client_enable', { clientId: id })
      await call.result(clientToJson(client), `Enabled the client ${client.name}, id ${id}.`)
    }),
})

const remove = command({
  args: '<client>',
  text: 'delete a client, whose grants end',
  examples: ['svc clients delete notes-cli', 'svc clients delete notes-cli --yes'],
  options: { yes: option.flag('--yes', 'do not ask on a terminal') },
  run: (call, nameOrId: string) =>
    withRegistry(call, async (registry, { logEvent }) => {
      const { id, name } = await registry.requireNamed(nameOrId)
      const question = `Delete the client ${name}, id ${id}, and end its grants?`
      if (process.stdin.isTTY) await confirm(call, question, 'nothing was deleted')
      const client = await registry.delete(id)
      if (!client) throw new AppError('not_found', `there is no client ${JSON.stringify(nameOrId)} any more`)
      logEvent('client_delete', { clientId: id })
      await call.result(clientToJson(client), `Deleted the client ${name}, id ${id}.`)
    }),
})

export const clients = group({
  text: 'make, change and delete clients of the OAuth server',
  examples: ['svc clients create notes --redirect-uri https://notes.example.com/callback', 'svc clients list'],
  notes: 'CLIENT is an id, or the name of a client that you made.',
  commands: { create, list, show, change, 'rotate-secret': rotateSecret, disable, enable, delete: remove },
})
