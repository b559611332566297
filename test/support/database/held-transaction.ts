import type { Database, Transaction } from '../../../src/storage/database.ts'

/** A transaction that continues and commits only on request. */
export const holding = async (
  queries: Database,
  begin: (transaction: Transaction) => Promise<unknown>,
  beforeCommit: () => void = () => {},
) => {
  const begun = Promise.withResolvers<unknown>()
  const release = Promise.withResolvers<void>()
  const done = queries.inTransaction(async (transaction) => {
    begun.resolve(await begin(transaction))
    await release.promise
    beforeCommit()
  })
  await Promise.race([begun.promise, done])
  return {
    commit: async () => {
      release.resolve()
      await done
    },
  }
}
