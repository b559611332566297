import { findResource } from '../lib/audience.ts'
import type { Client } from './client.ts'

/** A scope of the application, with what the consent page says about it. */
export interface ClientScope {
  name: string
  text: string
}

/** svc gives these meanings of their own (docs/clients.md). */
export const OWN_SCOPES = ['openid', 'profile', 'email', 'roles', 'offline_access'] as const

/** Lists the scopes that a client may ask for. Without a list of its own, that is every scope but `roles`. */
export const scopesFor = (
  { scopes }: Pick<Client, 'scopes'>,
  known: readonly Pick<ClientScope, 'name'>[],
): ReadonlySet<string> => {
  const all = [...OWN_SCOPES, ...known.map(({ name }) => name)]
  return new Set(all.filter((name) => (scopes ? scopes.includes(name) : name !== 'roles')))
}

/** Lists the resources that tokens of a client may be for. Without a list of its own, these are all. */
export const resourcesFor = ({ resources }: Pick<Client, 'resources'>, known: readonly string[]): readonly string[] =>
  resources.length > 0 ? known.filter((resource) => findResource(resources, resource) !== undefined) : known

/** Reads words with any number of spaces between them, each once. */
export const scopesIn = (text = ''): string[] => [...new Set(text.split(' ').filter((word) => word !== ''))]
