import { onDemand } from '../../lib/on-demand.ts'
import type { RouteDeps } from '../../http/deps.ts'
import { withPages } from '../site/with-pages.ts'
import type { ProviderRoute } from './provider-route.ts'

/** The handlers of one provider. */
export const createProviderHandlers = (deps: RouteDeps & ProviderRoute) =>
  onDemand(
    async () => {
      const [{ createProviderStart }, { createProviderCallback }, { createLinkAccount }] = await Promise.all([
        import('./start.ts'),
        import('./callback.ts'),
        import('./link-account.ts'),
      ])
      const given = await withPages(deps)
      const linkAccount = createLinkAccount(given)
      const { askForProof } = linkAccount
      return {
        start: createProviderStart(given),
        ...createProviderCallback({ ...given, askForProof }),
        ...linkAccount,
      }
    },
    'start',
    'callback',
    'relay',
    'linkByPassword',
    'reclaim',
    'show',
    'showAgain',
  )
