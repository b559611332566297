// Verifies access tokens with the SDK and the revocation feed, as an application does; the arguments are the address of
// the service, and the issuer. Sent a token, it answers whether it is good. Sent `{ token }`, it verifies the token again
// and again until it is refused, and answers with that time, in milliseconds since 1970.
import { setTimeout as wait } from 'node:timers/promises'
import { AccessTokenError, createAuth } from '../../sdk/src/server.ts'

const LOOK_EVERY_MS = 2

const [, , url, issuer] = process.argv
// It never asks the service about a token, and reads its key from SVC_API_KEY.
const auth = createAuth({ url, issuer, revocations: { stale: 'refuse' } })

const isGood = async (token: string): Promise<boolean> => {
  try {
    await auth.verifyAccessToken(token)
    return true
  } catch (error) {
    if (error instanceof AccessTokenError) return false
    throw error
  }
}

const waitForRefusal = async (token: string): Promise<number> => {
  while (await isGood(token)) await wait(LOOK_EVERY_MS)
  return performance.timeOrigin + performance.now()
}

process.on('message', (order: string | { token: string }) => {
  const answer = typeof order === 'string' ? isGood(order) : waitForRefusal(order.token)
  void answer.then((value) => process.send?.(value))
})
