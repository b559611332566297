// Loaded into svc itself (NODE_OPTIONS=--import). The pipe to the test process closes however that process ends, a kill
// included: then svc ends as well and removes its folder.
import { rmSync } from 'node:fs'

const folder = process.env.SVC_SDK_TEST_FOLDER

if (folder !== undefined) {
  process.stdin.once('end', () => process.exit()).once('error', () => process.exit())
  process.stdin.resume().unref()
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
}
