interface GroupLimits {
  /** A group of this size goes on. */
  size: number
  /** The first of a group waits at most this long for the others. */
  maxWaitMs: number
}

export interface Groups {
  /** Resolves together with the others of its group. */
  join(): Promise<void>
  /** Lets a group go on that is not complete. */
  release(): void
}

/** Lets work that arrives bit by bit go on in groups. */
export const createGroups = ({ size, maxWaitMs }: GroupLimits): Groups => {
  let group: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined

  const release = (): void => {
    clearTimeout(timer)
    timer = undefined
    const released = group
    group = []
    for (const resolve of released) resolve()
  }

  return {
    release,
    join: () =>
      new Promise((resolve) => {
        group.push(resolve)
        if (group.length >= size) release()
        else timer ??= setTimeout(release, maxWaitMs)
      }),
  }
}
