import { createCookieTable } from '../../../src/http/cookies.ts'
import type { RouteDeps } from '../../../src/http/services.ts'
import type { Route } from '../../../src/http/route.ts'
import { createApplication } from '../../../src/web/routes.ts'
import { createFrame } from '../../../src/web/site/frame.ts'

const frame = createFrame({ appName: 'Any', logoUrl: undefined, accentColor: '#0f6b5c' })

/**
 * The table of routes of a service with a provider of that name. Its rows can be read, but its handlers cannot be
 * called: most of what they need is missing.
 */
export const routeTable = (provider: string): Route[] => {
  const providers = [{ name: provider, label: provider, iconUrl: undefined }]
  const baseUrl = 'http://localhost'
  const cookieTable = createCookieTable({ baseUrl, cookiePrefix: false })
  return createApplication(frame).createRoutes({
    frame,
    providers,
    baseUrl,
    cookieTable,
    links: {},
    loadDirectory: async () => ({}),
    loadRevocationFeed: async () => ({}),
    hasClients: true,
    clientsRegister: true,
    loadClients: async () => ({ settings: {} }),
    oauth: {},
    audiences: [],
    usernames: true,
    names: 'optional',
    passwords: true,
    passkeys: { isOn: true },
  } as unknown as RouteDeps)
}
