// Runs test files one after another, as its parent names them. Each is run as if it had a process of its own: its
// tests begin when those of the file before have ended and nothing of it keeps the process alive.
import { after, run } from 'node:test'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { processTreeCpuMs } from '../../../bench/support/cpu-time.ts'
import { beginFile, endLasting } from '../cleanup.ts'
import { describe, type Message } from './events.ts'

const send = (message: Message): void => void process.send?.(message)

const cpuMs = (): number => processTreeCpuMs(process.pid)

let isUnderWay = false

/** Runs the file's tests, and sends what they say. Resolves to the errors outside of them. */
const runTests = async (file: string): Promise<unknown[]> => {
  const errors: unknown[] = []
  const keep = (error: unknown): void => void errors.push(error)
  const events = run({ files: [file], isolation: 'none' })
  const end = beginFile()
  isUnderWay = true
  after(() => {
    isUnderWay = false
    return end().catch(keep)
  })
  for await (const event of events) {
    const described = describe(event, file)
    if (described) send({ event: described })
  }
  // Node says nothing about the error of a file that has registered tests before.
  await import(pathToFileURL(file).href).catch(keep)
  return errors
}

const runFile = async (file: string): Promise<void> => {
  const [startedMs, cpuBefore] = [performance.now(), cpuMs()]
  // The file has ended when nothing else keeps this process alive.
  process.channel?.unref()
  const errors = await runTests(file)
  process.channel?.ref()
  const durationMs = performance.now() - startedMs
  send({ ended: { errors: errors.map((error) => inspect(error)), durationMs, cpuMs: cpuMs() - cpuBefore } })
}

process.on('beforeExit', () => {
  if (!isUnderWay) return
  process.stderr.write('Nothing is left that could end the test that runs, or the modules of the file.\n')
  process.exit(1)
})
process.on('message', (file: string) => void runFile(file))
process.on('disconnect', () => void endLasting().finally(() => process.exit()))
