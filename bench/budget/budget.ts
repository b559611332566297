import { CATEGORIES, type Category } from './categories.ts'

/** Microseconds of processor time for one request, by category. Categories without time may be missing. */
export type Budget = Partial<Record<Category, number>>

/** One kind of request: what it costs in the service, and in bare `node:http` with the same response. */
export interface RequestBudget {
  what: string
  svc: Budget
  bare: Budget
}

/** Something measured over `requests` requests. */
interface Measured {
  requests: number
  /** Microseconds that each kind of thread used. */
  threads: ReadonlyMap<Category | 'main', number>
  /** The profile of the main thread, from other requests of the same kind: only its proportions count. */
  profile: ReadonlyMap<Category, number>
}

/** Divides the main thread's processor time in the proportions of its profile, and adds the other threads. */
export const toBudget = ({ requests, threads, profile }: Measured): Budget => {
  const profiled = [...profile.values()].reduce((sum, each) => sum + each, 0)
  const main = threads.get('main') ?? 0
  const entries = CATEGORIES.map((category) => {
    const onMain = profiled === 0 ? 0 : (main * (profile.get(category) ?? 0)) / profiled
    return [category, (onMain + (threads.get(category) ?? 0)) / requests] as const
  })
  return Object.fromEntries(entries.filter(([, us]) => us > 0))
}

export const totalOf = (budget: Budget): number => Object.values(budget).reduce((sum, us) => sum + us, 0)
