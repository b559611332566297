import { readFileSync } from 'node:fs'
import path from 'node:path'

const ROOT = path.join(import.meta.dirname, '../../..')

/** The examples of the repository. */
export const EXAMPLES_FOLDER = path.join(ROOT, 'examples')

/** Where `npm run examples` copies the examples, and installs what they need. */
const PREPARED_FOLDER = path.join(ROOT, 'node_modules/.cache/examples')

export type Runtime = 'node' | 'next' | 'vite' | 'python' | 'go'

/** An application in examples/ that tests start. */
export type Example = {
  /** Its folder in examples/. */
  name: string
  runtime: Runtime
  /** It has a WebSocket, which ends with its session: it needs a key. */
  isLive?: true
}

/** The examples whose runtime comes with npm, or is installed with PyPI or the Go proxy. */
export const EXAMPLES: readonly Example[] = [
  { name: 'node', runtime: 'node' },
  { name: 'express', runtime: 'node' },
  { name: 'fastify', runtime: 'node', isLive: true },
  { name: 'hono', runtime: 'node', isLive: true },
  { name: 'nextjs', runtime: 'next' },
  { name: 'vite', runtime: 'vite' },
  { name: 'fastapi', runtime: 'python' },
  { name: 'django', runtime: 'python' },
  { name: 'flask', runtime: 'python' },
  { name: 'go', runtime: 'go' },
]

/** The same application with two libraries. */
export const SECOND_APPLICATIONS: readonly Example[] = [
  { name: 'second-application-flask', runtime: 'python' },
  { name: 'second-application-go', runtime: 'go' },
]

/** The examples about clients of svc. */
export const CLIENT_EXAMPLES: readonly Example[] = [
  { name: 'mcp', runtime: 'node' },
  { name: 'command-line', runtime: 'node' },
  { name: 'mcp-client-python', runtime: 'python' },
  ...SECOND_APPLICATIONS,
]

/** The recipes of docs/verify-locally.md that tests run. */
export const VERIFIERS: readonly Example[] = [
  { name: 'verify-locally/python', runtime: 'python' },
  { name: 'verify-locally/go', runtime: 'go' },
]

/** The command that starts an example on a port in its prepared folder: the one of its README. */
export const startCommand = (name: string, port: number): string[] => {
  const readme = readFileSync(path.join(EXAMPLES_FOLDER, name, 'README.md'), 'utf8')
  const line = /^(?:.*\/svc\.js dev .* -- |env (?:\w+=\S+ )*)(.+)$/m.exec(readme)?.[1]
  if (line === undefined) throw new Error(`examples/${name}/README.md does not start the application`)
  const command = line.replace(/\b[34]000\b/, String(port)).replace('npx next', `node ${NEXT}`)
  const [program = '', ...args] = command.split(' ')
  return [PROGRAMS[program] ?? program, ...args]
}

// npx starts it as another process, which would outlive the test.
const NEXT = 'node_modules/next/dist/bin/next'

/** The programs of the READMEs in the prepared folders. */
const PROGRAMS: Record<string, string> = { '.venv/bin/python': 'python3', node: process.execPath }

/** The folder in which a prepared example runs. */
export const preparedFolder = (name: string): string => path.join(PREPARED_FOLDER, 'examples', name)

/** Below the folder of a prepared example: the packages of Python. */
export const PYTHON_PACKAGES = 'packages'

/** Below the folder of a prepared example: its program in Go, and its tests. */
export const GO_PROGRAM = '.build/app'
export const GO_TESTS = '.build/tests'

/** Below the folder of a prepared example: what it was made of. It is written when the installation is complete. */
export const STAMP = '.prepared'
