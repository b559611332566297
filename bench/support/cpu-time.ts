import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second, whatever the kernel's own clock. */
const MS_A_TICK = 10

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

/** Milliseconds of processor time that a process and its children, including ended ones, have used so far. */
export const processTreeCpuMs = (pid: number): number => {
  const children = readdirSync('/proc').flatMap((name) => {
    const times = /^\d+$/.test(name) ? readTimes(name) : undefined
    return times?.parent === pid ? [times.ownMs] : []
  })
  const { ownMs = 0, endedChildrenMs = 0 } = readTimes(pid) ?? {}
  return ownMs + endedChildrenMs + children.reduce((sum, each) => sum + each, 0)
}

export const parentOf = (pid: number): number => readTimes(pid)?.parent ?? 0
