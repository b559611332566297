import { refTo } from '../../api/schemas.ts'
import type { Services } from '../../http/services.ts'
import { type HttpResponse, json, redirect } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import { ACCOUNT_PATH } from '../../http/step-up.ts'

/**
 * Handles `GET /auth/.well-known/change-password`: password managers ask the origin for it, and the proxy leads them
 * here (W3C, A Well-Known URL for Changing Passwords).
 */
export const changePassword = { show: (): HttpResponse => redirect(`${ACCOUNT_PATH}#change-password`) }

/** Answers `GET /auth/.well-known/passkey-endpoints`, which passkey providers ask the origin for (W3C, same name). */
export const createPasskeyEndpoints = ({ baseUrl }: Pick<Services, 'baseUrl'>) => {
  const page = `${baseUrl}${ACCOUNT_PATH}#passkeys`
  return {
    documentation: {
      operationId: 'getPasskeyEndpoints',
      summary: 'Where users add and manage passkeys',
      tag: 'Passkeys',
      responses: { 200: { description: 'The addresses of the pages', schema: refTo('PasskeyEndpoints') } },
    } satisfies Documentation,

    handle: (): HttpResponse => json(200, JSON.stringify({ enroll: page, manage: page })),
  }
}
