import { AppError } from '../lib/errors.ts'
import type { Client } from './client.ts'
import type { ClientSettings } from './client-settings.ts'
import { findUriProblem } from './redirect-uri.ts'
import { findResource } from '../lib/audience.ts'
import { OWN_SCOPES } from './scope.ts'

/** An operator, or the application's backend, says this about a client. */
export type ClientFields = Pick<
  Client,
  | 'name'
  | 'type'
  | 'redirectUris'
  | 'logoutUris'
  | 'backchannelLogoutUri'
  | 'scopes'
  | 'resources'
  | 'firstParty'
  | 'requireMfa'
>

/** What each clientRefusal names, as the server API spells it; an option of the command line has the same words. */
type Field = 'name' | 'redirect_uris' | 'logout_uris' | 'backchannel_logout_uri' | 'scopes' | 'resources'

export const MAX_NAME_LENGTH = 60

/** Messages say this about the names of clients. */
export const NAME_RULE = `1 to ${MAX_NAME_LENGTH} characters that are seen, without control and direction characters, with at most four marks on one letter`

const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u
/**
 * Characters that control, turn or break a line, and those that nobody sees, but for the joiners of some scripts and the
 * variants of emoji.
 */
const HIDDEN = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]--[\u200c-\u200d]--[\ufe0e-\ufe0f]]/v
/** So many marks on one letter, as no language has, would cover the words above and below. */
const STACKED = /\p{M}{5}/u

export const MAX_URIS = 20
const MAX_SCOPES = 100

export const clientRefusal = (field: Field | 'client_id', message: string): AppError =>
  new AppError('unprocessable', message, { field })

/** Reads a name as it is stored, or returns undefined if it cannot be shown in a line as it is. */
export const readClientName = (entered: string): string | undefined => {
  const name = entered.trim().normalize('NFC')
  const length = [...name].length
  return length <= MAX_NAME_LENGTH && VISIBLE.test(name) && !HIDDEN.test(name) && !STACKED.test(name) ? name : undefined
}

const requireName = (entered: string): string => {
  const name = readClientName(entered)
  if (name !== undefined) return name
  throw clientRefusal('name', `The name of a client has ${NAME_RULE}.`)
}

const requireUris = (field: Field, uris: readonly string[], type: Client['type']): readonly string[] => {
  if (uris.length > MAX_URIS) throw clientRefusal(field, `A client has at most ${MAX_URIS} of them.`)
  for (const uri of uris) {
    const problem = findUriProblem(uri, type)
    if (problem !== undefined) throw clientRefusal(field, `${JSON.stringify(uri)} ${problem}.`)
  }
  return [...new Set(uris)]
}

const requireBackchannelUri = (uri: string | undefined, type: Client['type']): string | undefined => {
  if (uri === undefined) return undefined
  const problem = findUriProblem(uri, 'web')
  if (problem !== undefined) throw clientRefusal('backchannel_logout_uri', `${JSON.stringify(uri)} ${problem}.`)
  if (type !== 'web') {
    throw clientRefusal('backchannel_logout_uri', 'A client of type web alone can have one: it is a server.')
  }
  return uri
}

const requireScopes = (scopes: readonly string[] | undefined, known: ClientSettings['scopes']) => {
  const all = [...OWN_SCOPES, ...known.map(({ name }) => name)]
  const wrong = scopes?.find((scope) => !all.includes(scope))
  if (wrong !== undefined) {
    const sent = JSON.stringify(wrong.slice(0, MAX_SCOPES))
    throw clientRefusal('scopes', `There is no scope ${sent}: there are ${all.join(', ')}.`)
  }
  return scopes && [...new Set(scopes)]
}

const requireResources = (resources: readonly string[], known: readonly string[]): readonly string[] => {
  const there = known.length > 0 ? `SVC_CLIENT_RESOURCES has ${known.join(', ')}` : 'SVC_CLIENT_RESOURCES is not set'
  const found = resources.map((text) => {
    const resource = findResource(known, text)
    if (resource === undefined)
      throw clientRefusal('resources', `There is no resource ${JSON.stringify(text)}: ${there}.`)
    return resource
  })
  return [...new Set(found)]
}

/** Checks what is said about a client; it throws `unprocessable`, naming the field and what would be accepted. */
export const requireClientFields = (
  given: ClientFields,
  { scopes, resources }: Pick<ClientSettings, 'scopes' | 'resources'>,
): ClientFields => {
  if (given.redirectUris.length === 0) throw clientRefusal('redirect_uris', 'A client needs at least one redirect URI.')
  return {
    ...given,
    name: requireName(given.name),
    redirectUris: requireUris('redirect_uris', given.redirectUris, given.type),
    logoutUris: requireUris('logout_uris', given.logoutUris, given.type),
    backchannelLogoutUri: requireBackchannelUri(given.backchannelLogoutUri, given.type),
    scopes: requireScopes(given.scopes, scopes),
    resources: requireResources(given.resources, resources),
  }
}
