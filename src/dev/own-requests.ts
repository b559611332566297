import type { IncomingHttpHeaders } from 'node:http'
import { canonicalAddress } from '../lib/address.ts'
import { AppError } from '../lib/errors.ts'
import { isOwnAddress } from '../lib/network.ts'

/** These parts of a request tell where it comes from. */
interface RequestHead {
  method?: string | undefined
  url?: string | undefined
  headers: IncomingHttpHeaders
}

export interface OwnHosts {
  port: number
  /** `shop` stands for `shop.localhost`. */
  name: string | undefined
  /** The address to listen on beside those of this machine alone. */
  listen: string | undefined
}

/**
 * Knows which requests may reach `svc dev`: every page in the browser of a developer can send requests here, and a name
 * of a website can lead to this machine (DNS rebinding).
 */
export interface OwnRequests {
  /** Throws `forbidden` for a request to another host. */
  requireHost(request: RequestHead): void
  /**
   * Throws `forbidden` for a request of a page of another origin, another port of localhost included. Programs send
   * neither of the two headers.
   */
  requireOwn(request: RequestHead): void
}

/** Containers know the machine that they run on by these. No website can have a name under `internal`. */
const OF_CONTAINERS = ['host.docker.internal', 'host.containers.internal']

const UNSPECIFIED = ['0.0.0.0', '::']

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address)

export const createOwnRequests = ({ port, name, listen }: OwnHosts): OwnRequests => {
  const isEverywhere = listen !== undefined && UNSPECIFIED.includes(listen)
  const names = [
    'localhost',
    '127.0.0.1',
    '[::1]',
    ...(name === undefined ? [] : [`${name}.localhost`]),
    ...(listen === undefined ? [] : [...OF_CONTAINERS, ...(isEverywhere ? [] : [bracketed(listen)])]),
  ]
  const hosts = new Set(names.flatMap((each) => (port === 80 ? [each, `${each}:80`] : [`${each}:${port}`])))
  const origins = new Set([...hosts].map((host) => new URL(`http://${host}`).origin))

  /** An address is no name that could lead elsewhere: only one of this machine reaches it. */
  const isAddressOfMachine = (host: string): boolean => {
    const [, address = '', given = '80'] = /^\[?([\d.]+|[\da-f:]+(?=\]))\]?(?::(\d+))?$/i.exec(host) ?? []
    return Number(given) === port && isOwnAddress(canonicalAddress(address) ?? '')
  }
  const isOwnHost = (host: string): boolean => hosts.has(host) || (isEverywhere && isAddressOfMachine(host))
  const isOwnOrigin = (origin: string): boolean =>
    origins.has(origin) || (origin.startsWith('http://') && isOwnHost(origin.slice('http://'.length)))

  return {
    requireHost({ url = '', headers: { host = '' } }) {
      if (!url.startsWith('/'))
        throw new AppError('forbidden', 'svc dev is no proxy for other hosts: the request names one.')
      if (isOwnHost(host.toLowerCase())) return
      const shown = JSON.stringify(host.slice(0, 100))
      const hint = listen === undefined ? '' : ' or the address of --listen'
      throw new AppError(
        'forbidden',
        `The header Host says ${shown}; expected "localhost:${port}"${hint}. svc dev serves this machine alone.`,
        { field: 'Host' },
      )
    },

    requireOwn({ method = 'GET', headers }) {
      const { origin, 'sec-fetch-site': site } = headers
      if (origin !== undefined && !isOwnOrigin(origin))
        throw new AppError('forbidden', `The header Origin says ${JSON.stringify(origin.slice(0, 100))}: ${ALONE}`, {
          field: 'Origin',
        })
      const isReading = method === 'GET' || method === 'HEAD'
      if (site === undefined || site === 'same-origin' || (site === 'none' && isReading)) return
      throw new AppError('forbidden', `The header Sec-Fetch-Site says ${JSON.stringify(site)}: ${ALONE}`, {
        field: 'Sec-Fetch-Site',
      })
    },
  }
}

const ALONE =
  'pages of other origins reach nothing of svc dev. Open its address in the address bar, or from a page of its own.'
