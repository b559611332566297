import assert from 'node:assert/strict'
import type { Person, User } from '../client/accounts.ts'
import type { Service } from './service.ts'

/** Runs a command that must succeed, and returns its output. */
export const runCommandOf = async (service: Service, args: string[], input = ''): Promise<string> => {
  const { code, stdout, stderr } = await service.cli(args, { input })
  assert.equal(code, 0, `svc ${args.join(' ')}\n${stdout}${stderr}`)
  return stdout
}

/** Runs a command with --json that must succeed, and returns its parsed output. */
export const runJsonCommandOf = async <T>(service: Service, args: string[], input = ''): Promise<T> => {
  const value: T = JSON.parse(await runCommandOf(service, [...args, '--json'], input))
  return value
}

/** Creates an account on the command line. */
export const createUser = (service: Service, { email, password, username }: Person): Promise<string> =>
  runCommandOf(service, ['users', 'create', email, '--username', username], password)

export const listUsers = (service: Service): Promise<User[]> => runJsonCommandOf<User[]>(service, ['users', 'list'])

export const showUser = (service: Service, name: string): Promise<User> =>
  runJsonCommandOf<User>(service, ['users', 'show', name])

export const disableUser = (service: Service, name: string): Promise<string> =>
  runCommandOf(service, ['users', 'disable', name])

export const enableUser = (service: Service, name: string): Promise<string> =>
  runCommandOf(service, ['users', 'enable', name])

export const deleteUser = (service: Service, name: string): Promise<string> =>
  runCommandOf(service, ['users', 'delete', name, '--yes'])

export const setPassword = (service: Service, name: string, password: string): Promise<string> =>
  runCommandOf(service, ['users', 'set-password', name], password)

export const setRoles = (service: Service, name: string, roles: string[]): Promise<string> =>
  runCommandOf(service, ['users', 'set-roles', name, ...roles])
