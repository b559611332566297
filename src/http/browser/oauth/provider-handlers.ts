import { onDemand } from '../../../lib/on-demand.ts'
import type { ProviderRouteDeps } from './provider-route.ts'

/** The handlers of one provider. */
export const createProviderHandlers = (deps: ProviderRouteDeps) =>
  onDemand(
    async () => {
      const [{ createProviderStart }, { createProviderCallback }, { createLinkAccount }] = await Promise.all([
        import('./start.ts'),
        import('./callback.ts'),
        import('./link-account.ts'),
      ])
      const linkAccount = createLinkAccount(deps)
      const { askForProof } = linkAccount
      return {
        start: createProviderStart(deps),
        ...createProviderCallback({ ...deps, askForProof }),
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
