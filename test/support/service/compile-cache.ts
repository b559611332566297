import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { spawnSvc } from './command.ts'

/**
 * Starts svc once and stops it in order, so that it stores its compiled code. The services of most tests are killed,
 * and would compile again after each change.
 */
export const fillCompileCache = async (): Promise<void> => {
  const cwd = mkdtempSync(path.join(tmpdir(), 'svc-test-'))
  try {
    const svc = spawnSvc({ args: ['serve'], cwd, env: { SVC_PORT: '0' } })
    svc.stderr.on('data', (text: string) => {
      if (text.includes('svc is serving')) svc.kill('SIGTERM')
    })
    svc.stdout.resume()
    await once(svc, 'close')
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}
