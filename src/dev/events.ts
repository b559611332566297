import { EventEmitter, on } from 'node:events'
import type { ReceivedMessage } from './mailbox.ts'
import type { ReceivedWebhook } from './webhook-receiver.ts'

/** What happens at `svc dev`: the terminal shows it, and pages follow it. */
export type DevEvent =
  | { type: 'request'; method: string; path: string; status: number; ms: number }
  | { type: 'mail'; message: ReceivedMessage }
  | { type: 'webhook'; webhook: ReceivedWebhook }
  | { type: 'reset' }

export interface DevEvents {
  tell(event: DevEvent): void
  follow(listener: (event: DevEvent) => void): void
  /** Gives what happens from now on, until the loop over it ends. */
  stream(): AsyncIterable<DevEvent>
}

const NAME = 'dev'

async function* unwrapped(arrivals: AsyncIterable<[DevEvent]>): AsyncGenerator<DevEvent> {
  for await (const [event] of arrivals) yield event
}

export const createEvents = (): DevEvents => {
  const emitter = new EventEmitter().setMaxListeners(0)
  return {
    tell: (event) => void emitter.emit(NAME, event),
    follow: (listener) => void emitter.on(NAME, listener),
    // It listens from now on, and not from the first turn of the loop.
    stream: () => unwrapped(on(emitter, NAME) as AsyncIterable<[DevEvent]>),
  }
}
