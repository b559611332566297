import { canonicalAddress } from '../../lib/address.ts'
import { isOwnAddress, isPrivateAddress } from '../../lib/network.ts'
import type { MonotonicClock } from '../../lib/time.ts'

interface SharedAddressDeps {
  baseUrl: string
  clock: MonotonicClock
}

/** One developer has fewer on one machine, and a browser changes its name every few weeks. */
const BROWSERS = 5
const WITHIN_MS = 24 * 60 * 60 * 1000

/** This bounds how much of a client's header is kept. */
const KEPT_CHARACTERS = 400

/**
 * Notices a proxy that names no visitors: within a day, one address of a private network, of this machine or of the base
 * URL sends the forms of several browsers, and no other address sends any. A public address is not judged: an office
 * behind one looks the same.
 */
export const createSharedAddressCheck = ({ baseUrl, clock }: SharedAddressDeps) => {
  const { hostname } = new URL(baseUrl)
  const publicAddress = canonicalAddress(hostname.replace(/^\[|\]$/g, ''))
  const userAgents = new Set<string>()
  let latestClient: string | undefined
  let mayBeProxy = false
  let beganMs = 0

  const beginAgain = (): void => {
    userAgents.clear()
    beganMs = clock.elapsedMs()
  }

  /** Tells whether the client of this form is such a proxy. */
  return (client: string, userAgent = ''): boolean => {
    if (client !== latestClient) {
      latestClient = client
      mayBeProxy = isPrivateAddress(client) || client === publicAddress || isOwnAddress(client)
      beginAgain()
    }
    if (!mayBeProxy) return false
    if (clock.elapsedMs() - beganMs > WITHIN_MS) beginAgain()
    userAgents.add(userAgent.slice(0, KEPT_CHARACTERS))
    return userAgents.size >= BROWSERS
  }
}
