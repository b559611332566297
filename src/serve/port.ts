import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../config/config.ts'
import { AppError } from '../lib/errors.ts'

type ListenAddress = Pick<Config, 'host' | 'port'>

/**
 * The configured port, or a free one if it is 0. Needed before anything starts, because without `SVC_BASE_URL` the port
 * is part of the issuer in every token.
 */
export const findPort = async (address: ListenAddress): Promise<number> => address.port || requireFreePort(address)

/** The same, but throws `unavailable` when another program listens on the port. */
export const requireFreePort = async (address: ListenAddress): Promise<number> => {
  const probe = createServer()
  try {
    await once(probe.listen(address.port, address.host), 'listening')
  } catch (error) {
    throw listenError(error, address)
  }
  const actual = probe.address()
  probe.close()
  await once(probe, 'close')
  return typeof actual === 'object' && actual ? actual.port : 0
}

/** Turns an error of `listen` into one that names the setting to change. */
export const listenError = (error: unknown, { host, port }: ListenAddress): unknown => {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') {
    return new AppError('unavailable', `Port ${port} on ${host} is taken: set SVC_PORT to another.`)
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new AppError('unavailable', `Cannot listen on ${host} port ${port} (${code}).`)
  }
  return error
}
