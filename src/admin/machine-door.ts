import { AppError } from '../lib/errors.ts'
import { equalInConstantTime, randomToken } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import type { Operator } from './http/context.ts'
import type { Door } from './http/door.ts'
import type { AdministratorRole } from '../administrators/administrator.ts'

/** The address that is printed is good for this long. */
const ENTRY_MS = 5 * 60_000

/** The pages close after this time in which no operator has used them. */
const IDLE_MS = 30 * 60_000

export interface MachineDoor extends Door {
  kind: 'machine'
  /** This address leads in. It is good once. */
  entryUrl: string
  /** Lets the browser in that has the token of the address; resolves to the secret of its session. Throws `gone`. */
  enter(token: string | undefined): string
  isEntered(): boolean
  isLeftAlone(): boolean
}

interface MachineDoorDeps {
  findPort: () => number
  role: AdministratorRole
  clock: Clock
}

/**
 * The door on the operator's machine. Other users and programs of the machine reach the port: without the address, which
 * has 128 random bits, they see nothing, and without the cookie they do nothing.
 */
export const createMachineDoor = ({ findPort, role, clock }: MachineDoorDeps): MachineDoor => {
  const base = `/${randomToken(16)}`
  const token = randomToken(32)
  const entryEndsAtMs = clock.now() + ENTRY_MS
  let secret: string | undefined
  let usedAtMs = clock.now()

  return {
    kind: 'machine',
    get host() {
      return `127.0.0.1:${findPort()}`
    },
    get origin() {
      return `http://${this.host}`
    },
    base,
    get entryUrl() {
      return `${this.origin}${base}/enter?token=${token}`
    },
    isEntered: () => secret !== undefined,

    enter(given) {
      const isGood = secret === undefined && clock.now() < entryEndsAtMs && equalInConstantTime(given, token)
      if (!isGood) throw new AppError('gone', 'This address was good once, for five minutes.', { reason: 'entered' })
      secret = randomToken(32)
      usedAtMs = clock.now()
      return secret
    },

    async findOperator(given): Promise<Operator | undefined> {
      if (!equalInConstantTime(given, secret)) return undefined
      usedAtMs = clock.now()
      return { actor: 'cli', role, name: undefined, session: undefined, secret: given, mustProve: false }
    },

    // An operator on this machine could do the same by command.
    prove: () => Promise.resolve(),

    isLeftAlone: () => clock.now() - usedAtMs >= IDLE_MS,
  }
}
