// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decideEntry, type EntryFacts } from '../../src/sign-in/entry-policy.ts'

type Mode = EntryFacts['mode']
type Cells = Record<Mode, Record<EntryFacts['factors'], string>>

/** What happens in a trusted browser, and in any other: `ask`, or `start/ask`. */
// biome-ignore format: a table is read by its columns
const TABLE: Record<EntryFacts['purpose'], Record<EntryFacts['way'], Cells>> = {
  sign_in: {
    password: {
      off:      { none: 'start', passkeys: 'start',     codes: 'start' },
      optional: { none: 'start', passkeys: 'start',     codes: 'start/ask' },
      required: { none: 'enrol', passkeys: 'start/ask', codes: 'start/ask' },
    },
    provider: {
      off:      { none: 'start', passkeys: 'start',     codes: 'start' },
      optional: { none: 'start', passkeys: 'start',     codes: 'start/ask' },
      required: { none: 'start', passkeys: 'start/ask', codes: 'start/ask' },
    },
    trusted_provider: {
      off:      { none: 'start', passkeys: 'start',     codes: 'start' },
      optional: { none: 'start', passkeys: 'start',     codes: 'start' },
      required: { none: 'start', passkeys: 'start',     codes: 'start' },
    },
    mail_code: {
      off:      { none: 'start', passkeys: 'start',     codes: 'start' },
      optional: { none: 'start', passkeys: 'start',     codes: 'start/ask' },
      required: { none: 'enrol', passkeys: 'start/ask', codes: 'start/ask' },
    },
    mail_link: {
      off:      { none: 'start', passkeys: 'start',     codes: 'start' },
      optional: { none: 'start', passkeys: 'start',     codes: 'start/ask' },
      required: { none: 'enrol', passkeys: 'start/ask', codes: 'start/ask' },
    },
    operator_link: {
      off:      { none: 'start', passkeys: 'start',     codes: 'start' },
      optional: { none: 'start', passkeys: 'start',     codes: 'ask' },
      required: { none: 'enrol', passkeys: 'ask',       codes: 'ask' },
    },
    verification: {
      off:      { none: 'start', passkeys: 'start',     codes: 'start' },
      optional: { none: 'start', passkeys: 'start',     codes: 'ask' },
      required: { none: 'enrol', passkeys: 'ask',       codes: 'ask' },
    },
    recovery: {
      off:      { none: 'start', passkeys: 'start',     codes: 'start' },
      optional: { none: 'start', passkeys: 'start',     codes: 'start' },
      required: { none: 'enrol', passkeys: 'start',     codes: 'start' },
    },
  },
  connect: {
    password: {
      off:      { none: 'start', passkeys: 'start',     codes: 'start' },
      optional: { none: 'start', passkeys: 'start',     codes: 'ask' },
      required: { none: 'start', passkeys: 'ask',       codes: 'ask' },
    },
    provider: {
      off:      { none: 'start', passkeys: 'start',     codes: 'start' },
      optional: { none: 'start', passkeys: 'start',     codes: 'ask' },
      required: { none: 'start', passkeys: 'ask',       codes: 'ask' },
    },
    trusted_provider: {
      off:      { none: 'start', passkeys: 'start',     codes: 'start' },
      optional: { none: 'start', passkeys: 'start',     codes: 'start' },
      required: { none: 'start', passkeys: 'start',     codes: 'start' },
    },
    mail_code: {
      off:      { none: 'start', passkeys: 'start',     codes: 'start' },
      optional: { none: 'start', passkeys: 'start',     codes: 'ask' },
      required: { none: 'start', passkeys: 'ask',       codes: 'ask' },
    },
    mail_link: {
      off:      { none: 'start', passkeys: 'start',     codes: 'start' },
      optional: { none: 'start', passkeys: 'start',     codes: 'ask' },
      required: { none: 'start', passkeys: 'ask',       codes: 'ask' },
    },
    operator_link: {
      off:      { none: 'start', passkeys: 'start',     codes: 'start' },
      optional: { none: 'start', passkeys: 'start',     codes: 'ask' },
      required: { none: 'start', passkeys: 'ask',       codes: 'ask' },
    },
    verification: {
      off:      { none: 'start', passkeys: 'start',     codes: 'start' },
      optional: { none: 'start', passkeys: 'start',     codes: 'ask' },
      required: { none: 'start', passkeys: 'ask',       codes: 'ask' },
    },
    recovery: {
      off:      { none: 'start', passkeys: 'start',     codes: 'start' },
      optional: { none: 'start', passkeys: 'start',     codes: 'start' },
      required: { none: 'start', passkeys: 'start',     codes: 'start' },
    },
  },
}

const entries = <T extends object>(record: T) => Object.entries(record) as [keyof T, T[keyof T]][]

for (const [purpose, ways] of entries(TABLE))
  for (const [way, cells] of entries(ways))
    for (const [mode, row] of entries(cells))
      test(`${purpose}, ${way}, SVC_SECOND_FACTOR=${mode}`, () => {
        for (const [factors, cell] of entries(row)) {
          const [trusted, other = trusted] = cell.split('/')
          const facts = { purpose, way, mode, factors }
          assert.equal(decideEntry({ ...facts, browser: 'trusted' }), trusted, `${factors}, trusted browser`)
          assert.equal(decideEntry({ ...facts, browser: 'other' }), other, `${factors}, other browser`)
        }
      })
