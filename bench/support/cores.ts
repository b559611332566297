import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** The cores that a process may use: the first, the second, or both. */
export type Cores = 'first' | 'second' | 'both'

const LISTS: Record<Cores, string> = { first: '0', second: '1', both: '0,1' }

const hasTaskset = (): boolean =>
  process.platform === 'linux' && availableParallelism() >= 2 && spawnSync('taskset', ['--version']).status === 0

export const canPin: boolean = hasTaskset()

/** The command line that starts a program on these cores only; unchanged if pinning is not possible. */
export const onCores = (cores: Cores, command: string[]): string[] =>
  canPin ? ['taskset', '-c', LISTS[cores], ...command] : command

/** Moves this process with all its threads to these cores. */
export const pinTo = (cores: Cores): void => {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', LISTS[cores], String(process.pid)])
}
