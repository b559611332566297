import type { AuthenticatedKey, Keep, Kept } from '../../api-keys/api-keys.ts'
import type { Client, Registry } from '../../clients/clients.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type ContentResponse, type HttpResponse, json, noContent } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import type { Services } from '../../http/services.ts'
import { AppError } from '../../lib/errors.ts'
import { toTimestamp } from '../../lib/time.ts'
import { failure } from '../schemas.ts'
import { choice, flag, jsonBody, nullable, optional, text, textList } from './json-body.ts'
import { refToV2 } from './schemas.ts'

const BY_COMMAND = 'By command alone (`svc clients`): 403 where it would be set or changed'

const SHARED = {
  logout_uris: optional(textList({ description: 'A logout may lead to these' })),
  scopes: optional(nullable(textList({ description: 'It may ask for these; null: for all but `roles`' }))),
  resources: optional(textList({ description: 'Its tokens may be for these; empty: for all' })),
  require_mfa: optional(flag({ description: 'Users need two-step verification for it' })),
  first_party: optional(flag({ description: BY_COMMAND })),
  backchannel_logout_uri: optional(nullable(text({ description: BY_COMMAND }))),
}

const NEW_CLIENT = jsonBody({
  name: text({ description: 'At most 60 characters; users see it' }),
  redirect_uris: textList({ description: 'Compared byte for byte' }),
  type: optional(choice('web', 'native', 'browser')),
  ...SHARED,
})

const CHANGES = jsonBody({
  name: optional(text()),
  redirect_uris: optional(textList({ description: 'In place of those that it has' })),
  ...SHARED,
  disabled: optional(flag({ description: 'Disabling ends every grant' })),
})

interface GivenFields {
  redirect_uris: string[] | undefined
  logout_uris: string[] | undefined
  resources: string[] | undefined
  require_mfa: boolean | undefined
  first_party: boolean | undefined
}

/** Gives the fields of the server API the names of the domain. */
const toFields = (given: GivenFields) => ({
  redirectUris: given.redirect_uris,
  logoutUris: given.logout_uris,
  resources: given.resources,
  requireMfa: given.require_mfa,
  firstParty: given.first_party,
})

type ClientRoutesDeps = Pick<Services, 'accountLog'> & { registry: Registry }

/** Makes the routes that only read. */
const createReading = ({ registry }: ClientRoutesDeps) => ({
  list: {
    documentation: {
      operationId: 'listClients',
      summary: 'Clients of the OAuth server, the newest first',
      tag: 'Clients',
      responses: { 200: { description: 'At most 10,000 clients', schema: refToV2('ClientList') } },
    } satisfies Documentation,

    async handle(): Promise<HttpResponse> {
      return json(200, JSON.stringify({ clients: (await registry.list(MOST)).map(clientToJson) }))
    },
  },

  find: {
    documentation: {
      operationId: 'findClient',
      summary: 'One client',
      tag: 'Clients',
      responses: { 200: { description: 'The client', schema: refToV2('Client') }, 404: NO_CLIENT },
    } satisfies Documentation,

    async handle({ parameters: { id = '' } }: RequestContext): Promise<HttpResponse> {
      const client = await registry.show(id)
      if (!client) throw new AppError('not_found', 'There is no such client.')
      return json(200, JSON.stringify(clientToJson(client)))
    },
  },
})

const MOST = 10_000
const NO_CLIENT = failure('`not_found`: there is no such client')
const FOR_COMMAND = failure('`forbidden`: the field is for the command line, or the client is first-party')
const NOT_ACCEPTED = failure('`unprocessable`: a field is not accepted')

/** Makes the routes whose effect and answer are stored together. */
const createMaking = ({ registry, accountLog }: ClientRoutesDeps) => ({
  create: {
    documentation: {
      operationId: 'createClient',
      summary: 'Makes a client; one of type `web` gets a secret, which is shown this once',
      tag: 'Clients',
      body: NEW_CLIENT,
      responses: {
        201: { description: 'The client', schema: refToV2('CreatedClient') },
        403: FOR_COMMAND,
        422: NOT_ACCEPTED,
      },
    } satisfies Documentation,

    async handle(
      context: RequestContext,
      _key: AuthenticatedKey,
      keep: Keep<ContentResponse>,
    ): Promise<Kept<ContentResponse>> {
      const given = NEW_CLIENT.read(context.json)
      const { redirectUris = [], logoutUris = [], resources = [], ...others } = toFields(given)
      const { requireMfa = false, firstParty = false } = others
      const fields = {
        name: given.name,
        type: given.type ?? 'web',
        redirectUris,
        logoutUris,
        resources,
        requireMfa,
        firstParty,
        scopes: given.scopes ?? undefined,
        backchannelLogoutUri: given.backchannel_logout_uri ?? undefined,
      }
      let clientId: string | undefined
      const answer = await registry.create(
        fields,
        (transaction, { client, secret }) => {
          clientId = client.id
          const body = { ...clientToJson(client), ...(secret !== undefined && { secret }) }
          return keep(transaction, json(201, JSON.stringify(body)))
        },
        context,
      )
      accountLog.record(context, { event: 'client_create', clientId })
      return answer
    },
  },

  rotateSecret: {
    documentation: {
      operationId: 'rotateClientSecret',
      summary: 'Makes a new secret, which is shown this once; the former one stays good for 24 hours',
      tag: 'Clients',
      responses: {
        201: { description: 'The secret', schema: refToV2('ClientSecret') },
        403: FOR_COMMAND,
        404: NO_CLIENT,
        422: failure('`unprocessable`: the client is public'),
      },
    } satisfies Documentation,

    async handle(
      context: RequestContext,
      _key: AuthenticatedKey,
      keep: Keep<ContentResponse>,
    ): Promise<Kept<ContentResponse>> {
      const { id = '' } = context.parameters
      const answer = await registry.rotateSecret(
        id,
        (transaction, { secret, formerUntilMs }) => {
          const body = { secret, former_secret_until: toTimestamp(formerUntilMs) }
          return keep(transaction, json(201, JSON.stringify(body)))
        },
        context,
      )
      accountLog.record(context, { event: 'client_secret_rotate', clientId: id })
      return answer
    },
  },
})

/** CONTRACT.md 10.7 describes these routes. */
export const createClientRoutes = (deps: ClientRoutesDeps) => ({
  ...createReading(deps),
  ...createMaking(deps),

  change: {
    documentation: {
      operationId: 'changeClient',
      summary: 'Changes what is given, all of it or nothing',
      tag: 'Clients',
      body: CHANGES,
      responses: {
        200: { description: 'The client', schema: refToV2('Client') },
        403: FOR_COMMAND,
        404: NO_CLIENT,
        422: NOT_ACCEPTED,
      },
    } satisfies Documentation,

    async handle(context: RequestContext): Promise<HttpResponse> {
      const { id = '' } = context.parameters
      const given = CHANGES.read(context.json)
      const { name, scopes, disabled, backchannel_logout_uri: backchannelLogoutUri } = given
      const changes = { ...toFields(given), name, scopes, disabled, backchannelLogoutUri }
      const client = await deps.registry.change(id, changes, context)
      deps.accountLog.record(context, { event: eventOf(disabled), clientId: id })
      return json(200, JSON.stringify(clientToJson(client)))
    },
  },

  delete: {
    documentation: {
      operationId: 'deleteClient',
      summary: 'Deletes a client, whose grants end',
      tag: 'Clients',
      responses: { 204: { description: 'There is no such client any more' }, 403: FOR_COMMAND },
    } satisfies Documentation,

    async handle(context: RequestContext): Promise<HttpResponse> {
      const { id = '' } = context.parameters
      const deleted = await deps.registry.delete(id, context)
      if (deleted) deps.accountLog.record(context, { event: 'client_delete', clientId: id })
      return noContent
    },
  },
})

const eventOf = (disabled: boolean | undefined) => {
  if (disabled === undefined) return 'client_change'
  return disabled ? 'client_disable' : 'client_enable'
}

const clientToJson = (client: Client) => ({
  id: client.id,
  name: client.name,
  type: client.type,
  kind: client.kind,
  redirect_uris: client.redirectUris,
  logout_uris: client.logoutUris,
  backchannel_logout_uri: client.backchannelLogoutUri ?? null,
  scopes: client.scopes ?? null,
  resources: client.resources,
  first_party: client.firstParty,
  require_mfa: client.requireMfa,
  disabled: client.disabledAtMs !== undefined,
  created_at: toTimestamp(client.createdAtMs),
  last_used_at: client.usedAtMs === undefined ? null : toTimestamp(client.usedAtMs),
})
