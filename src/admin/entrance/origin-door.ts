import type { AdministratorSession, Entrance } from '../../administrators/administrators.ts'
import { AppError } from '../../lib/errors.ts'
import type { Limits } from '../../limits/limits.ts'
import type { AdminContext } from '../http/context.ts'
import type { Door } from '../http/door.ts'

export interface OriginDoor extends Door {
  kind: 'origin'
}

interface OriginDoorDeps {
  adminUrl: string
  entrance: Entrance
  limits: Limits
}

const SECRET = /^[\w-]{43}$/

/** The door at `SVC_ADMIN_URL`, for administrators with passkeys of that origin. */
export const createOriginDoor = ({ adminUrl, entrance, limits }: OriginDoorDeps): OriginDoor => {
  const { origin, host } = new URL(adminUrl)
  return {
    kind: 'origin',
    origin,
    host,
    base: '',

    async findOperator(secret) {
      const session = SECRET.test(secret) ? await entrance.findSession(secret) : undefined
      if (!session) return undefined
      const { administrator, mustProve } = session
      const { name, role } = administrator
      return { actor: `admin:${name}`, name, role, session, secret, mustProve }
    },

    async prove(operator, context) {
      const response = context.form.get('passkey_response') ?? ''
      if (response === '') throw refused('Show your passkey with the button. Passkeys need scripts.')
      const given = { response, browserSecret: context.browserSecret }
      try {
        await limitedByAddress({ limits }, context, () =>
          entrance.prove(requireSession(operator), given, context.anyone()),
        )
      } catch (error) {
        // The form is shown again.
        throw error instanceof AppError && error.field === 'passkey_response' ? refused(error.message) : error
      }
    },
  }
}

const refused = (message: string): AppError =>
  new AppError('unprocessable', message, { field: 'passkey_response', reason: 'unproved' })

/** At this door, all who are in have a session. */
export const requireSession = ({ session }: { session: AdministratorSession | undefined }): AdministratorSession => {
  if (session) return session
  throw new AppError('unauthorized', 'You are not signed in.', { reason: 'signed_out' })
}

/** Wrong passkeys and links of one network are limited together. */
export const limitedByAddress = <T>(
  { limits }: { limits: Limits },
  { network }: Pick<AdminContext, 'network'>,
  work: () => Promise<T>,
): Promise<T> => limits.attempt([['administratorPasskeyOfAddress', { network }]], work)
