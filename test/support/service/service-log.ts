/** One structured line of the service's log. */
export type LogLine = { level: string; message: string } & Record<string, unknown>

/** Parses a line of text. Empty if it is no line of the log. */
export const parseLine = (text: string): LogLine[] => {
  if (!text.startsWith('{')) return []
  try {
    const line: LogLine = JSON.parse(text)
    return [line]
  } catch {
    return []
  }
}

/** The whole output of a service, across restarts. */
export const createServiceLog = () => {
  let text = ''
  let lines: LogLine[] = []
  let readTo = 0
  return {
    write: (more: string): void => {
      text += more
    },
    clear: (): void => {
      text = ''
      lines = []
      readTo = 0
    },
    text: (): string => text,
    /** Parsed lines are kept, since tests that wait for a line read the log again and again. */
    lines: (): LogLine[] => {
      const end = text.lastIndexOf('\n') + 1
      lines = [...lines, ...text.slice(readTo, end).split('\n').flatMap(parseLine)]
      readTo = end
      return [...lines, ...parseLine(text.slice(end))]
    },
  }
}
