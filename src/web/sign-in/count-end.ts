import type { PendingSignIn } from '../../sign-in/pending-sign-ins.ts'
import type { RouteDeps } from '../../http/deps.ts'
import { countOutcome, loginFailure } from '../../http/request-metrics.ts'
import type { HttpResponse } from '../../http/response.ts'

/** Runs the end of a sign-in, and counts it where its beginning would have been counted without a second factor. */
export const countEnd = (
  { requestMetrics }: Pick<RouteDeps, 'requestMetrics'>,
  { provider, method, confirms }: PendingSignIn,
  action: () => Promise<HttpResponse>,
): Promise<HttpResponse> => {
  const name = provider !== undefined && provider === method ? provider : undefined
  return countOutcome(action, loginFailure, (outcome) => {
    if (name !== undefined) requestMetrics?.countProviderSignIn(name, outcome === 'succeeded' ? outcome : 'failed')
    else if (confirms === undefined) requestMetrics?.countLogin(outcome)
  })
}
