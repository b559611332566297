import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { canonicalAddress, networkOf, UNKNOWN_NETWORK } from '../../lib/address.ts'
import { isLoopbackHost } from '../../lib/network.ts'
import { readOrigin } from '../../lib/url.ts'

type NetworkCheck = (address: string) => boolean

/** Finds the address in an entry of `X-Forwarded-For`, which may carry a port: `1.2.3.4:5`, `[::1]:5`. */
const addressOf = (entry: string): string | undefined => {
  const [, address = entry] = /^\[([^\]]+)\](?::\d+)?$/.exec(entry) ?? /^([\d.]+):\d+$/.exec(entry) ?? []
  return canonicalAddress(address)
}

/**
 * Finds the client's address in canonical spelling. It is the address of the connection. As long as that is a trusted
 * proxy, it is the next entry of `X-Forwarded-For` from the right. An entry that is no address ends the walk.
 */
export const clientAddress = (
  peer: string,
  forwardedFor: string | string[] | undefined,
  isTrustedProxy: NetworkCheck,
): string => {
  let address = canonicalAddress(peer) ?? peer
  if (forwardedFor === undefined) return address
  const entries = String(forwardedFor).split(',')
  while (isTrustedProxy(address) && entries.length > 0) {
    const next = addressOf((entries.pop() ?? '').trim())
    if (next === undefined) break
    address = next
  }
  return address
}

/**
 * Finds the network that a client counts for. A trusted proxy, or this machine, is no client: a visitor behind it is
 * not known, and shares one network with all other unknown visitors.
 */
export const clientNetwork = (address: string, isTrustedProxy: NetworkCheck): string =>
  isIP(address) === 0 || isLoopbackHost(address) || isTrustedProxy(address) ? UNKNOWN_NETWORK : networkOf(address)

/**
 * Lists the origins that a request was sent to, as a browser would write them (RFC 6454 section 6.1): scheme and
 * `Host`, and what a trusted proxy says about both.
 */
export const requestOrigins = (headers: IncomingHttpHeaders, isFromProxy: boolean): string[] => {
  const { host, 'x-forwarded-host': forwardedHost, 'x-forwarded-proto': forwardedProto } = headers
  const isHttps = isFromProxy && lastOf(forwardedProto)?.toLowerCase() === 'https'
  const hosts = [host, isFromProxy ? lastOf(forwardedHost) : undefined]
  const origins = hosts.map((it) => (it ? readOrigin(`${isHttps ? 'https' : 'http'}://${it}`) : undefined))
  return [...new Set(origins.filter((origin) => origin !== undefined))]
}

/** Gives the last entry of a header that may hold a list: the nearest proxy has added it. */
export const lastOf = (header: string | string[] | undefined): string | undefined =>
  String(header ?? '')
    .split(',')
    .at(-1)
    ?.trim() || undefined
