import type { Adapter, Stored } from 'oidc-provider'

type Clients = (id: string) => Stored | undefined

/**
 * The storage of one OpenID provider, in memory and separate from every other. Clients are looked up each time, so that
 * they can change while the provider runs.
 */
export const createAdapters = (client: Clients): ((model: string) => Adapter) => {
  const kept = new Map<string, Stored>()

  return (model) => {
    const key = (id: string) => `${model}:${id}`
    const findBy = (name: 'uid' | 'userCode', value: string) =>
      [...kept].find(([of, stored]) => of.startsWith(key('')) && stored[name] === value)?.[1]
    return {
      upsert: async (id, stored) => void kept.set(key(id), stored),
      find: async (id) => (model === 'Client' ? client(id) : kept.get(key(id))),
      findByUid: async (uid) => findBy('uid', uid),
      findByUserCode: async (userCode) => findBy('userCode', userCode),
      consume: async (id) => {
        const stored = kept.get(key(id))
        if (stored) stored.consumed = Math.floor(Date.now() / 1000)
      },
      destroy: async (id) => void kept.delete(key(id)),
      revokeByGrantId: async (grantId) => {
        for (const [of, stored] of kept) if (of.startsWith(key('')) && stored.grantId === grantId) kept.delete(of)
      },
    }
  }
}
