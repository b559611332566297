import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'

type NetworkCheck = (address: string) => boolean

/** An entry of `X-Forwarded-For`, which may carry a port: `1.2.3.4:5`, `[::1]:5`. */
const addressOf = (entry: string): string => {
  const [, address = entry] = /^\[([^\]]+)\](?::\d+)?$|^$/.exec(entry) ?? /^([\d.]+):\d+$/.exec(entry) ?? []
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}

/**
 * The address of who sent a request: the connection's, or, as long as that is a trusted proxy, the one it was
 * forwarded for, walked from the right. An entry that is no address ends the walk.
 */
export const clientAddress = (
  peer: string,
  forwardedFor: string | string[] | undefined,
  isTrustedProxy: NetworkCheck,
): string => {
  let address = addressOf(peer)
  const entries = String(forwardedFor ?? '').split(',')
  while (isTrustedProxy(address) && entries.length > 0) {
    const next = addressOf((entries.pop() ?? '').trim())
    if (isIP(next) === 0) break
    address = next
  }
  return address
}

/** Whether an `Origin` header names the host that this request was sent to. */
export const isOwnHost = (
  origin: string,
  { host, 'x-forwarded-host': forwarded }: IncomingHttpHeaders,
  isFromProxy: boolean,
): boolean => {
  const forwardedHost = isFromProxy
    ? String(forwarded ?? '')
        .split(',')
        .at(-1)
        ?.trim()
    : undefined
  const originHost = /^https?:\/\/([^/]+)$/.exec(origin)?.[1]
  return originHost !== undefined && (originHost === host || originHost === forwardedHost)
}
