const MAX_LENGTH = 64
const KEY = /svc_sk_[\w-]*/g

/**
 * The name of a field or parameter that a client sent, for messages and the log: it may be as long as the whole body, and
 * an API key in the wrong place must not get into a log.
 */
export const shownName = (name: string): string => {
  const shown = name.slice(0, 2 * MAX_LENGTH).replaceAll(KEY, 'svc_sk_…')
  return shown.length > MAX_LENGTH ? `${shown.slice(0, MAX_LENGTH)}…` : shown
}
