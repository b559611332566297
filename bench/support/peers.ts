import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sendRequest } from './connection.ts'
import type { Client } from './load.ts'
import { NODE_FLAGS, SVC, serviceEnvironment } from './servers.ts'
import {
  fetchCsrfCookie,
  get,
  getUser,
  keepCookies,
  loginClient,
  PASSWORD,
  postForm,
  type SignedInUser,
  signUpUsers,
} from './users.ts'

/** A service that does the same work, and how to ask it. */
export interface Peer {
  name: string
  /** Its password hash, and the argument of `peers/hash-time.js`. */
  hash: { name: string; argument: string }
  command(port: number): { command: string[]; env?: Record<string, string> }
  /** Answered with 200 when the service is ready. */
  health: string
  /** Creates accounts and signs them in. */
  signUp(port: number, count: number): Promise<SignedInUser[]>
  /** Signs in again and again. */
  signIn(port: number, email: string): Promise<Client>
  check(port: number, user: SignedInUser): string
  signOut(port: number, user: SignedInUser): string
}

const SOURCE = fileURLToPath(new URL('../peers/', import.meta.url))
/** Where the servers run, with their packages: outside of the folders that tests and linters read. */
const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/bench-peers/', import.meta.url))
const SECRET = 'only for benchmarks, and of no use anywhere else'

/** Copies the servers, and installs the packages of their lock file, unless these are there. */
export const installPeers = (): void => {
  const lock = readFileSync(`${SOURCE}package-lock.json`, 'utf8')
  const installed = `${FOLDER}node_modules/.installed-lock.json`
  cpSync(SOURCE, FOLDER, { recursive: true })
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts'], {
    cwd: FOLDER,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) throw new Error('npm ci for the peers failed')
  writeFileSync(installed, lock)
}

/** Processor time of one hash in milliseconds. */
export const measureHash = ({ hash }: Peer): number => {
  const { stdout } = spawnSync(process.execPath, [`${FOLDER}hash-time.js`, hash.argument], { encoding: 'utf8' })
  return Number(stdout)
}

const SVC_PEER: Peer = {
  name: 'svc',
  hash: { name: 'Argon2id', argument: 'svc' },
  command: (port) => ({ command: [...NODE_FLAGS, SVC, 'serve'], env: serviceEnvironment(port) }),
  health: get('/auth/health'),
  signUp: signUpUsers,
  signIn: async (port, email) => loginClient(email, await fetchCsrfCookie(port)),
  check: (_, { cookies }) => getUser(cookies),
  signOut: (_, { cookies }) => postForm('/auth/logout', cookies, {}),
}

interface Paths {
  health: string
  signUp: string
  signIn: string
  check: string
  signOut: string
}

const cookieOf = ({ cookies }: SignedInUser): string => [...cookies].map((pair) => pair.join('=')).join('; ')

const post = (port: number, path: string, body: object, cookie = ''): string => {
  const content = JSON.stringify(body)
  return [
    `POST ${path} HTTP/1.1`,
    `Host: localhost:${port}`,
    `Origin: http://localhost:${port}`,
    ...(cookie ? [`Cookie: ${cookie}`] : []),
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(content)}`,
    `\r\n${content}`,
  ].join('\r\n')
}

/** A peer with an API in JSON. */
const createPeer = (
  { name, hash, file, args = [] }: Pick<Peer, 'name' | 'hash'> & { file: string; args?: string[] },
  paths: Paths,
): Peer => {
  const signInAs = (port: number, email: string): string => post(port, paths.signIn, { email, password: PASSWORD })
  const signUpOne = async (port: number, email: string): Promise<SignedInUser> => {
    await sendRequest(port, post(port, paths.signUp, { email, password: PASSWORD, name: email }))
    const { status, head } = await sendRequest(port, signInAs(port, email))
    if (status !== 200) throw new Error(`${name} answers ${status} to a sign-in`)
    const cookies = new Map<string, string>()
    keepCookies(cookies, head)
    return { email, cookies }
  }
  return {
    name,
    hash,
    command: (port) => ({ command: [`${FOLDER}${file}`, String(port), SECRET, ...args] }),
    health: get(paths.health),
    signUp: async (port, count) => {
      const users: SignedInUser[] = []
      while (users.length < count) users.push(await signUpOne(port, `user-${users.length}@example.com`))
      return users
    },
    signIn: async (port, email) => ({ request: () => signInAs(port, email), expectStatus: 200 }),
    check: (_, user) => get(paths.check, cookieOf(user)),
    signOut: (port, user) => post(port, paths.signOut, {}, cookieOf(user)),
  }
}

const BETTER_AUTH = { file: 'better-auth.js', hash: { name: 'scrypt', argument: 'better-auth' } }
const BETTER_AUTH_PATHS: Paths = {
  health: '/api/auth/ok',
  signUp: '/api/auth/sign-up/email',
  signIn: '/api/auth/sign-in/email',
  check: '/api/auth/get-session',
  signOut: '/api/auth/sign-out',
}

/** The service itself, and the peers. */
export const PEERS: readonly Peer[] = [
  SVC_PEER,
  createPeer({ ...BETTER_AUTH, name: 'Better Auth' }, BETTER_AUTH_PATHS),
  createPeer({ ...BETTER_AUTH, name: 'Better Auth, cookie cache', args: ['cache'] }, BETTER_AUTH_PATHS),
  createPeer(
    { name: 'Passport', file: 'passport.js', hash: { name: 'PBKDF2', argument: 'passport' } },
    { health: '/health', signUp: '/sign-up', signIn: '/sign-in', check: '/user', signOut: '/sign-out' },
  ),
]
