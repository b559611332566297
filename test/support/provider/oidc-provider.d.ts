// The package has no types. These are the parts that tests use.
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  export type Stored = Record<string, unknown> & {
    uid?: string
    userCode?: string
    grantId?: string
    consumed?: number
  }

  export type Adapter = {
    upsert(id: string, stored: Stored, lifetimeSeconds?: number): Promise<void>
    find(id: string): Promise<Stored | undefined>
    findByUid(uid: string): Promise<Stored | undefined>
    findByUserCode(userCode: string): Promise<Stored | undefined>
    consume(id: string): Promise<void>
    destroy(id: string): Promise<void>
    revokeByGrantId(grantId: string): Promise<void>
  }

  export type Grant = {
    addOIDCScope(scope: string): void
    addResourceScope(resource: string, scope: string): void
    save(): Promise<string>
  }

  export const errors: { InvalidTarget: new () => Error }

  export type Interaction = { uid: string; prompt: { name: string }; params: Record<string, unknown> }

  export type Context = {
    type: string
    body: string
    oidc: {
      client: { clientId: string }
      session: { accountId?: string }
      params: Record<string, unknown>
      provider: Provider
    }
  }

  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>)
    silent: boolean
    readonly Grant: new (of: {
      clientId: string
      accountId: string | undefined
    }) => Grant
    callback(): RequestListener
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
  }
}
