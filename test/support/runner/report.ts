import { once } from 'node:events'
import { spec } from 'node:test/reporters'
import type { Counts, TestEvent } from './events.ts'
import type { Database, Job } from './pool.ts'
import type { FileResult } from './worker-process.ts'

/** What the databases are called in the output. */
export const TITLES: Record<Database, string> = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

/** The results on one database. They are kept until they are shown. */
const createPart = (title: string) => {
  const reporter = new spec()
  const counts: Counts = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 }
  let hasAny = false
  let failed = 0

  const show = (): void => {
    if (hasAny) process.stdout.write(`\n${title}\n`)
    reporter.pipe(process.stdout, { end: false })
  }
  const write = (event: TestEvent): void => void reporter.write(event)

  return {
    show,
    add: ({ events }: FileResult): void => {
      hasAny = true
      for (const event of events) if (event.type !== 'test:summary') write(event)
      failed += events.filter(({ type }) => type === 'test:fail').length
      const summary = events.find(({ type }) => type === 'test:summary')
      const more = (summary?.data.counts ?? {}) as Partial<Counts>
      for (const name of Object.keys(counts) as (keyof Counts)[]) counts[name] += more[name] ?? 0
      counts.failed = Math.max(counts.failed, failed)
    },
    /** Resolves to whether all is well, when the rest is shown. */
    end: async (): Promise<boolean> => {
      for (const [name, count] of Object.entries(counts))
        if (hasAny) write({ type: 'test:diagnostic', data: { nesting: 0, message: `${name} ${count}`, level: 'info' } })
      reporter.end()
      await once(reporter, 'end')
      return counts.failed + counts.cancelled === 0
    },
  }
}

/** Shows the results of files as node does: on SQLite as they come, then those on PostgreSQL. */
export const createReport = () => {
  const parts = { sqlite: createPart(TITLES.sqlite), postgres: createPart(TITLES.postgres) }
  let isShown = false
  let failedOtherwise = false
  return {
    add: ({ database }: Job, result: FileResult): void => {
      parts[database].add(result)
      failedOtherwise ||= result.events.some(({ type, data }) => type === 'test:summary' && data.success === false)
      if (database === 'sqlite' && !isShown) parts.sqlite.show()
      isShown ||= database === 'sqlite'
    },
    /** Resolves to whether all is well, when the rest is shown. */
    end: async (): Promise<boolean> => {
      if (!isShown) parts.sqlite.show()
      const isWell = await parts.sqlite.end()
      parts.postgres.show()
      const isWellToo = await parts.postgres.end()
      return isWell && isWellToo && !failedOtherwise
    },
  }
}
