/** A function at one place in the tree of calls, with the time that it took for itself. */
export interface ProfiledFunction {
  id: number
  parent: number | undefined
  name: string
  /** The file, `node:…` for a module of Node, and empty for native code. */
  url: string
  selfUs: number
}

/** What the processor time of a request is spent on, in the order of the tables and pictures. */
export const CATEGORIES = [
  'socket write',
  'event loop, socket read, HTTP parser',
  'node:http',
  'garbage collection and compilation',
  'svc: HTTP',
  'svc: sessions and users',
  'svc: pages',
  'svc: log',
  'cryptography',
  'SQLite',
  'thread pool: syncs to disk',
  'side thread: signatures, checkpoints',
] as const

export type Category = (typeof CATEGORIES)[number]

/** The entries of V8's profile that are no functions. */
const STATES: Record<string, Category | 'idle'> = {
  '(idle)': 'idle',
  '(program)': 'event loop, socket read, HTTP parser',
  '(garbage collector)': 'garbage collection and compilation',
}

/** The first match counts. A file that matches nothing, and native code, belong to the caller. */
const FILES: readonly [RegExp, Category | 'idle'][] = [
  // The profiler itself.
  [/^node:inspector/, 'idle'],
  [/^node:internal\/stream_base_commons/, 'socket write'],
  [/^node:(?:internal\/)?crypto/, 'cryptography'],
  [/^node:(?:_http|net$|http$|events$|stream|internal\/(?:http|streams|timers|process|async_hooks))/, 'node:http'],
  [/\/bench\/programs\/constant-http/, 'node:http'],
  [/\/node_modules\/(?:pino|sonic-boom|thread-stream)|\/src\/lib\/log|\/src\/http\/[\w-]+-log\.ts/, 'svc: log'],
  [/\/src\/pages\/|\/src\/lib\/html\.ts/, 'svc: pages'],
  [/\/src\/storage\/|-store\.ts$/, 'SQLite'],
  [/\/src\/(?:sessions|users|oauth|webhooks)\//, 'svc: sessions and users'],
  [/\/src\/http\//, 'svc: HTTP'],
]

const ownCategory = ({ name, url }: ProfiledFunction): Category | 'idle' | undefined =>
  url === '' ? STATES[name] : FILES.find(([pattern]) => pattern.test(url))?.[1]

/** Adds up the time of each category. Time during which the process waited is left out. */
export const sortByCategory = (functions: readonly ProfiledFunction[]): Map<Category, number> => {
  const byId = new Map(functions.map((each) => [each.id, each]))
  const categoryOf = (each: ProfiledFunction): Category | 'idle' => {
    const caller = each.parent === undefined ? undefined : byId.get(each.parent)
    return ownCategory(each) ?? (caller ? categoryOf(caller) : 'event loop, socket read, HTTP parser')
  }
  const sums = new Map<Category, number>()
  for (const each of functions) {
    const category = categoryOf(each)
    if (category !== 'idle') sums.set(category, (sums.get(category) ?? 0) + each.selfUs)
  }
  return sums
}
