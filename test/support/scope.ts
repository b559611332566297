import type { TestContext } from 'node:test'

/** Stands in for a test in a program that uses the support of the tests: what is registered for its end runs at `end`. */
export const createScope = (): { t: TestContext; end: () => Promise<void> } => {
  const acts: (() => unknown)[] = []
  const scope: Pick<TestContext, 'fullName'> & { after: (act: () => unknown) => void } = {
    fullName: 'a program',
    after: (act) => void acts.push(act),
  }
  return {
    t: scope as TestContext,
    end: async () => {
      for (const act of acts.splice(0).toReversed()) await act()
    },
  }
}
