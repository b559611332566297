import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, globSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { GO_PROGRAM, GO_TESTS, PYTHON_PACKAGES, type Runtime } from '../test/support/examples/examples.ts'

const ROOT = path.join(import.meta.dirname, '..')
const INSTALLATION_LIMIT_MS = 300_000

/** What is missing on this machine, or cannot be reached from it. */
export class InstallationError extends Error {}

/** Runs a command, and returns its output. Throws an `InstallationError` if it fails. */
export const run = (command: string[], cwd: string): string => {
  const [program = '', ...args] = command
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
    timeout: INSTALLATION_LIMIT_MS,
  })
  if (status === 0) return stdout
  const reason = error?.message ?? `${stderr}${stdout}`.trim().split('\n').slice(-3).join(' ')
  throw new InstallationError(`${command.join(' ')}: ${reason}`)
}

type Installer = {
  /** Prints the version that the packages are installed for. */
  version: string[]
  /** The files that decide what is installed, as patterns below the root of the repository. */
  inputs: (name: string) => string[]
  install: (folder: string) => void
}

const npm = (...args: string[]): string[] => [
  'npm',
  ...args,
  '--prefer-offline',
  '--fetch-retries=1',
  '--ignore-scripts',
]

/** How the packages of the examples are installed. */
export const INSTALLERS: Record<Runtime, Installer> = {
  node: {
    version: [process.execPath, '--version'],
    inputs: (name) => [`examples/${name}/package*.json`, 'sdk/package.json', 'sdk/src/**'],
    install: (folder) => run(npm('ci'), folder),
  },
  next: {
    version: [process.execPath, '--version'],
    inputs: (name) => [`examples/${name}/{*.js,package*.json,app/**}`, 'sdk/package.json', 'sdk/src/**'],
    install: (folder) => {
      run(npm('ci'), folder)
      run([process.execPath, 'node_modules/next/dist/bin/next', 'build'], folder)
    },
  },
  vite: {
    version: [process.execPath, '--version'],
    inputs: (name) => [`examples/${name}/{*.js,*.html,package*.json,src/**}`, 'sdk/package.json', 'sdk/src/**'],
    install: (folder) => {
      run(npm('ci'), folder)
      run([process.execPath, 'node_modules/vite/bin/vite.js', 'build'], folder)
    },
  },
  python: {
    version: ['python3', '--version'],
    inputs: (name) => [`examples/${name}/requirements.txt`],
    install: (folder) => {
      const target = [`--target=${PYTHON_PACKAGES}`, '--requirement=requirements.txt']
      run(['python3', '-m', 'pip', 'install', '--quiet', '--retries=1', '--no-deps', ...target], folder)
    },
  },
  go: {
    version: ['go', 'version'],
    inputs: (name) => [`examples/${name}/*.{go,mod,sum}`],
    install: (folder) => {
      run(['go', 'build', '-o', GO_PROGRAM, '.'], folder)
      if (globSync('*_test.go', { cwd: folder }).length > 0) run(['go', 'test', '-c', '-o', GO_TESTS, '.'], folder)
    },
  },
}

/** Builds the SDK beside the examples, which install it from there. */
export const buildSdk = (folder: string): void => {
  const compiler = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
  const args = [compiler, '-p', 'sdk/tsconfig.build.json', '--outDir', path.join(folder, 'dist')]
  execFileSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' })
  cpSync(path.join(ROOT, 'sdk/package.json'), path.join(folder, 'package.json'))
}
