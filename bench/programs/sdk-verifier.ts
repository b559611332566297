// Verifies access tokens with the SDK and the revocation feed, as an application does; the arguments are the address of
// the service, the issuer, and the address of a resource of clients. Sent a token, it answers whether it is good. Sent what
// to wait for, it verifies the token again and again until that is so, and answers with the time, in milliseconds since
// 1970.
import { setTimeout as wait } from 'node:timers/promises'
import { requireToken } from '../../sdk/src/resource.ts'
import { AccessTokenError, createAuth, SvcUnavailableError } from '../../sdk/src/server.ts'

/** A token, and what is to become of it: it is refused, or it counts with these roles. */
export interface Awaited {
  token: string
  /** It is one of a client. */
  isOfClient?: boolean
  roles?: string[]
}

const LOOK_EVERY_MS = 20

const [, , url, issuer, resource = ''] = process.argv
// It asks the service about no session that has ended, and reads its key from SVC_API_KEY.
const revocations = { stale: 'refuse' } as const
const auth = createAuth({ url, issuer, revocations })
const guard = requireToken({ url, issuer: `${issuer}/auth`, resource, revocations })

/** The roles of a token that is good; undefined for one that is refused. */
const verify = async ({ token, isOfClient }: Awaited): Promise<readonly string[] | undefined> => {
  try {
    if (!isOfClient) return (await auth.verifyAccessToken(token)).roles
    const answer = await guard(new Request(resource, { headers: { authorization: `Bearer ${token}` } }))
    if (answer && answer.status !== 401) throw new SvcUnavailableError(`the answer is ${answer.status}`)
    return answer ? undefined : []
  } catch (error) {
    if (error instanceof AccessTokenError) return undefined
    throw error
  }
}

/** While the feed is behind, nothing is known, which is no refusal. */
const verifyUntilKnown = async (awaited: Awaited): Promise<readonly string[] | undefined> => {
  for (;;) {
    try {
      return await verify(awaited)
    } catch (error) {
      if (!(error instanceof SvcUnavailableError)) throw error
    }
    await wait(LOOK_EVERY_MS)
  }
}

const waitFor = async (awaited: Awaited): Promise<number> => {
  while ((await verifyUntilKnown(awaited))?.join() !== awaited.roles?.join()) await wait(LOOK_EVERY_MS)
  return performance.timeOrigin + performance.now()
}

process.on('message', ({ order, awaited }: { order: 'verify' | 'wait'; awaited: Awaited }) => {
  const answer = order === 'wait' ? waitFor(awaited) : verifyUntilKnown(awaited).then((roles) => roles !== undefined)
  void answer.then((value) => process.send?.(value))
})
