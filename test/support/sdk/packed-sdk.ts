import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { temporaryDirectory } from '../temporary-directory.ts'

const ROOT = path.join(import.meta.dirname, '../../..')

/** What an application that uses the SDK has installed beside it, with the types. */
const BESIDE = ['@types', 'csstype', 'express', 'fastify', 'hono', 'jose', 'react', 'socket.io', 'undici-types']

const isSource = (file: string): boolean => !/sdk\/(?:dist|node_modules)(?:\/|$)/.test(file)

/**
 * Runs `npm pack` in a copy of `sdk/`, and unpacks the package into `node_modules` of an empty folder, which it returns,
 * beside the frameworks. It is removed after the file.
 */
export const installPackedSdk = (): { folder: string; installed: string } => {
  const [copy, folder] = [temporaryDirectory(), temporaryDirectory()]
  cpSync(path.join(ROOT, 'sdk'), path.join(copy, 'sdk'), { recursive: true, filter: isSource })
  cpSync(path.join(ROOT, 'tsconfig.json'), path.join(copy, 'tsconfig.json'))
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'))
  const options = { cwd: path.join(copy, 'sdk'), env: { PATH: process.env.PATH, HOME: folder }, stdio: 'pipe' } as const
  execFileSync('npm', ['pack', '--pack-destination', folder], options)
  const packed = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
  const installed = path.join(folder, 'node_modules/@svc/sdk')
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', path.join(folder, packed), '-C', installed, '--strip-components=1'])
  for (const name of BESIDE) symlinkSync(path.join(ROOT, 'node_modules', name), path.join(folder, 'node_modules', name))
  return { folder, installed }
}
