import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../config/config.ts'
import { AppError } from '../lib/errors.ts'

type Place = Pick<Config, 'host' | 'port'>

/** The port of the settings, or a free one where that is 0: it stands in every token, so nothing starts without. */
export const findPort = async (place: Place): Promise<number> => place.port || requireFreePort(place)

/** The same, and `unavailable` when something listens there. */
export const requireFreePort = async (place: Place): Promise<number> => {
  const probe = createServer()
  try {
    await once(probe.listen(place.port, place.host), 'listening')
  } catch (error) {
    throw listenError(error, place)
  }
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  return typeof address === 'object' && address ? address.port : 0
}

/** Says of a failure to listen which setting it is about. */
export const listenError = (error: unknown, { host, port }: Place): unknown => {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') {
    return new AppError('unavailable', `Port ${port} on ${host} is taken: set SVC_PORT to another.`)
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new AppError('unavailable', `Cannot listen on ${host} port ${port} (${code}).`)
  }
  return error
}
