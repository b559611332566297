// Another process that commits to the service's database, as the command line or a second replica does.
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'

interface WriteRequest {
  commitsPerS: number
  durationMs: number
}

const connection = new DatabaseSync(process.argv[2] ?? '')
connection.exec('PRAGMA busy_timeout = 1000; PRAGMA synchronous = FULL')
// A separate row, so that only the commit itself affects the service.
const commit = connection.prepare("INSERT OR REPLACE INTO installation (name, value) VALUES ('benchmark', ?)")

const write = async ({ commitsPerS, durationMs }: WriteRequest): Promise<number> => {
  const startedMs = performance.now()
  let commits = 0
  for (; performance.now() - startedMs < durationMs; await wait(1)) {
    for (const due = ((performance.now() - startedMs) / 1000) * commitsPerS; commits < due; commits++) {
      commit.run(String(commits))
    }
  }
  return commits
}

process.on('message', (order: WriteRequest) => {
  void write(order).then((commits) => process.send?.(commits))
})
