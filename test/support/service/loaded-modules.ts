import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryDirectory } from '../temporary-directory.ts'

/** The environment of a process that writes down which modules it loads, and those of `src/` so far. */
export const watchModules = (t: TestContext): { env: { NODE_OPTIONS: string }; loaded(): string[] } => {
  const list = path.join(temporaryDirectory(t), 'loaded')
  const program = `
    import { appendFileSync } from 'node:fs'
    import { registerHooks } from 'node:module'
    registerHooks({ load: (url, context, next) => {
      appendFileSync(${JSON.stringify(list)}, url + '\\n')
      return next(url, context)
    } })`
  return {
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` },
    loaded: () =>
      readFileSync(list, 'utf8')
        .split('\n')
        .flatMap((url) => /\/src\/(.*)$/.exec(url)?.[1] ?? []),
  }
}
