/** A scope of the application, with what the consent page says about it. */
export interface ClientScope {
  name: string
  text: string
}

/** svc gives these meanings of their own (docs/clients.md). */
export const OWN_SCOPES = ['openid', 'profile', 'email', 'roles', 'offline_access'] as const
