import fc from 'fast-check'

/** How many browsers the user has. */
export const BROWSERS = 2

const browser = fc.nat(BROWSERS - 1)
const replica = fc.nat(1)

/** What happens at one of two replicas: a browser's user, someone who has copied cookies, or an operator does it. */
export type Action =
  | { does: 'refresh' | 'read' | 'open' | 'log in' | 'log out' | 'change the password'; browser: number; at: number }
  | { does: 'end the others' | 'give a wrong password'; browser: number; at: number }
  | { does: 'copy the cookies'; browser: number }
  | { does: 'use the copy' | 'read with the copy'; at: number }
  | { does: 'guess'; times: number; at: number }
  | { does: 'disable' | 'enable' | 'set a password' | 'end all' }

const own = (does: (Action & { browser: number; at: number })['does'], weight: number) => ({
  weight,
  arbitrary: fc.record({ does: fc.constant(does), browser, at: replica }) as fc.Arbitrary<Action>,
})

const operator = (does: 'disable' | 'enable' | 'set a password' | 'end all', weight: number) => ({
  weight,
  arbitrary: fc.constant<Action>({ does }),
})

const action: fc.Arbitrary<Action> = fc.oneof(
  own('refresh', 8),
  own('read', 3),
  own('open', 4),
  own('log in', 5),
  own('log out', 2),
  own('change the password', 2),
  own('end the others', 1),
  own('give a wrong password', 1),
  { weight: 2, arbitrary: fc.record({ does: fc.constant('copy the cookies' as const), browser }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('use the copy' as const), at: replica }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('read with the copy' as const), at: replica }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('guess' as const), times: fc.nat(12), at: replica }) },
  operator('disable', 1),
  operator('enable', 2),
  operator('set a password', 1),
  operator('end all', 1),
)

/** A login, and what must end it: the password is checked while the change is made. */
const race: fc.Arbitrary<Action[]> = fc.tuple(
  own('log in', 1).arbitrary,
  fc.oneof(
    own('change the password', 3).arbitrary,
    ...(['disable', 'set a password'] as const).map((does) => fc.constant<Action>({ does })),
  ),
)

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Time that passes, or a clock that is set: by an hour at most. */
export type Pause = { passes: number } | { jumps: number }

const pause: fc.Arbitrary<Pause> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ passes: 0 }) },
  {
    weight: 6,
    arbitrary: fc.record({ passes: fc.constantFrom(SECOND, 29 * SECOND, 31 * SECOND, 9 * MINUTE, 11 * MINUTE, HOUR) }),
  },
  { weight: 2, arbitrary: fc.record({ passes: fc.constantFrom(13 * DAY, 15 * DAY) }) },
  { weight: 1, arbitrary: fc.record({ jumps: fc.constantFrom(HOUR, -HOUR, 0) }) },
)

/** Actions at the same moment, each after so many milliseconds, and what comes before them. */
export interface Step {
  pause: Pause
  actions: { action: Action; afterMs: number }[]
}

/** What a user, their tabs, a thief and an operator do, step by step. */
export const plan: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    pause,
    actions: fc
      .oneof({ weight: 4, arbitrary: fc.array(action, { minLength: 1, maxLength: 4 }) }, { weight: 1, arbitrary: race })
      .chain((actions) =>
        fc.tuple(...actions.map((each) => fc.record({ action: fc.constant(each), afterMs: fc.nat(3) }))),
      ),
  }),
  { minLength: 1, maxLength: 12 },
)
