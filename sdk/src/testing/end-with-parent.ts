// Loaded into svc itself (NODE_OPTIONS=--import). The pipe to the test process closes however that process ends, a kill
// included: then svc ends as well and removes its folder.
import { rmSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const folder = process.env.TEST_FOLDER_OF_SVC

// Threads of svc, and processes that a test forks with this environment, load it too. They come and go.
if (folder !== undefined && process.send === undefined && isMainThread) {
  process.stdin.once('end', () => process.exit()).once('error', () => process.exit())
  process.stdin.resume().unref()
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
}
