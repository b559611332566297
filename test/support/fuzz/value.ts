import fc from 'fast-check'
import { nasty } from './nasty.ts'
import type { Pantry } from './pantry.ts'

const CHANGES = {
  none: (text: string) => text,
  cut: (text: string) => text.slice(0, -1),
  longer: (text: string) => `${text}A`,
  upper: (text: string) => text.toUpperCase(),
  spaced: (text: string) => ` ${text} `,
  ended: (text: string) => `${text}\u0000`,
  twice: (text: string) => text + text,
  turned: (text: string) => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`,
}

/** What a request sends in one place: a text, or what the service has given out under a name, perhaps changed. */
export type Value = { text: string } | { fresh: string } | { kept: string; at: number; change: keyof typeof CHANGES }

export const textOf = (value: Value, pantry: Pantry): string => {
  if ('text' in value) return value.text
  if ('fresh' in value) return pantry.fresh(value.fresh)
  return CHANGES[value.change](pantry.take(value.kept, value.at) ?? '').toWellFormed()
}

/** One of the last values of that name, as it was given out. */
export const genuine = (name: string): fc.Arbitrary<Value> =>
  fc.record({ kept: fc.constant(name), at: fc.nat(5), change: fc.constant('none' as const) })

/** The last value of that name, as it was given out. */
export const newest = (name: string): Value => ({ kept: name, at: 0, change: 'none' })

const kept = (name: fc.Arbitrary<string>): fc.Arbitrary<Value> =>
  fc.record({
    kept: name,
    at: fc.nat(5),
    change: fc.constantFrom(...(Object.keys(CHANGES) as (keyof typeof CHANGES)[])),
  })

/** A value for a name: what belongs there, what belongs elsewhere, or what belongs nowhere. */
export const valueFor = (name: string, names: readonly string[]): fc.Arbitrary<Value> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(newest(name)) },
    { weight: 1, arbitrary: kept(fc.constant(name)) },
    { weight: 1, arbitrary: kept(fc.constantFrom(...names)) },
    { weight: 1, arbitrary: fc.constant({ fresh: name }) },
    { weight: 2, arbitrary: nasty.map((text) => ({ text })) },
  )
