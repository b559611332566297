import { setTimeout as wait } from 'node:timers/promises'
import { connect, type RawResponse } from '../support/connection.ts'

/** What became of the logins of a storm. */
export interface Storm {
  servedPerS: number
  /** Milliseconds of each refusal, from the request to the response. */
  refusedMs: number[]
}

interface StormOptions {
  port: number
  clients: number
  durationMs: number
  /** The next login of a client. */
  login: (client: number) => string
}

const SERVED = 303
const REFUSED: readonly number[] = [429, 503]

/** As a client is told; a second where it is not told. */
const retryAfterMs = ({ head }: RawResponse): number => 1000 * Number(/\r\nretry-after: *(\d+)/i.exec(head)?.[1] ?? 1)

/**
 * All clients log in at once, again and again; a refused one waits for as long as it is told. In the end all hang up,
 * whether or not they were answered. Any other response than a login or a refusal is an error.
 */
export const storm = async ({ port, clients, durationMs, login }: StormOptions): Promise<Storm> => {
  const refusedMs: number[] = []
  const errors: string[] = []
  let served = 0
  let isOver = false
  const open = (client: number) => {
    let sentMs = 0
    const send = (): void => {
      if (isOver) return
      sentMs = performance.now()
      connection.send(login(client))
    }
    const connection = connect({
      port,
      onResponse(response) {
        if (response.status === SERVED) {
          served += 1
          send()
        } else if (REFUSED.includes(response.status)) {
          refusedMs.push(performance.now() - sentMs)
          setTimeout(send, retryAfterMs(response)).unref()
        } else errors.push(`${response.status}: ${response.body.toString().slice(0, 200)}`)
      },
      onFailure: (error) => errors.push(error.message),
    })
    send()
    return connection
  }
  const connections = Array.from({ length: clients }, (_, client) => open(client))
  await wait(durationMs)
  isOver = true
  for (const connection of connections) connection.close()
  if (errors.length > 0) throw new Error(`${errors.length} logins failed; the first: ${errors[0]}`)
  return { servedPerS: served / (durationMs / 1000), refusedMs }
}
