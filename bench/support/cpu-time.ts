import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second, whatever the kernel's own clock. */
export const MS_A_TICK = 10

interface Times {
  parent: number
  /** The process's own time. `endedChildrenMs` is that of its children that have ended and were waited for. */
  ownMs: number
  endedChildrenMs: number
}

const readTimes = (pid: number | string): Times | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // After the name, which may contain any character: state, parent, … (proc(5): fields 14 to 17 are the times).
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15)
    return {
      parent: fields[1] ?? 0,
      ownMs: (user + system) * MS_A_TICK,
      endedChildrenMs: (childUser + childSystem) * MS_A_TICK,
    }
  } catch {
    return undefined
  }
}

/**
 * Milliseconds of processor time that a process and its descendants, including ended ones, have used so far; 0 where the
 * system does not say.
 */
export const processTreeCpuMs = (pid: number): number => {
  if (process.platform !== 'linux') return 0
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const all = new Map(pids.map((name) => [Number(name), readTimes(name)]))
  const sumFrom = (root: number): number => {
    const { ownMs = 0, endedChildrenMs = 0 } = all.get(root) ?? {}
    const children = [...all].flatMap(([child, times]) => (times?.parent === root ? [sumFrom(child)] : []))
    return children.reduce((sum, each) => sum + each, ownMs + endedChildrenMs)
  }
  return sumFrom(pid)
}
