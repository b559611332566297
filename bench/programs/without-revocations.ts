// Preloaded into the service (`--import`): the revocation feed is told nothing, so that the cost of telling it can be
// measured.
import { registerHooks } from 'node:module'

const SILENT = `const tell = async () => {}
export const createRecordRevocations = () => ({ sessionsEnded: tell, allSessionsEnded: tell, claimsChanged: tell })`

registerHooks({
  load: (url, context, next) =>
    url.endsWith('/revocations/recording.ts')
      ? { format: 'module', source: SILENT, shortCircuit: true }
      : next(url, context),
})
