// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { amrOf, authenticatedBy, type Proof, type Purpose } from '../../src/sign-in/amr.ts'

const FIRST_MS = 1_000
const SECOND_MS = 2_000

// One time for each purpose, of a passkey as the second proof: that of a passkey that is being set up is the first's.
const PASSKEY_TIME: Record<Purpose, number> = {
  sign_in: SECOND_MS,
  connect: SECOND_MS,
  confirm: SECOND_MS,
  enter: SECOND_MS,
  set_up: FIRST_MS,
}

/** The `amr` of each first proof alone, and with each second one (CONTRACT.md 3.1, 4.16 to 4.19). */
// biome-ignore format: a table is read by its columns
const TABLE: Record<Exclude<Proof, 'one_time_code' | 'recovery_code'>, [alone: string, code: string, recoveryCode: string]> = {
  password:             ['pwd',     'pwd otp mfa', 'pwd mfa'],
  link:                 ['pwd',     'pwd otp mfa', 'pwd mfa'],
  mail:                 ['otp',     'otp mfa',     'otp mfa'],
  provider:             ['fed',     'fed otp mfa', 'fed mfa'],
  provider_with_factor: ['fed mfa', 'fed otp mfa', 'fed mfa'],
  bound_passkey:        ['hwk mfa', 'hwk otp mfa', 'hwk mfa'],
  synced_passkey:       ['swk mfa', 'swk otp mfa', 'swk mfa'],
}

const text = (amr: readonly string[]): string => amr.join(' ')

describe('what a session says that was proved, and when', () => {
  for (const [first, [alone, withCode, withRecoveryCode]] of Object.entries(TABLE))
    for (const [purpose, passkeyTime] of Object.entries(PASSKEY_TIME) as [Purpose, number][])
      test(`${first}, to ${purpose}`, () => {
        const proved = { amr: amrOf(first as Proof), authenticatedAtMs: FIRST_MS }
        const after = (proof: Proof) => {
          const { amr, authenticatedAtMs } = authenticatedBy(proved, { proof, provedAtMs: SECOND_MS }, purpose)
          return [text(amr), authenticatedAtMs]
        }
        assert.equal(text(proved.amr), alone)
        assert.deepEqual(authenticatedBy(proved, undefined, purpose), proved)
        assert.deepEqual(after('one_time_code'), [withCode, FIRST_MS])
        assert.deepEqual(after('recovery_code'), [withRecoveryCode, FIRST_MS])
        assert.deepEqual(after('bound_passkey'), ['hwk mfa', passkeyTime])
        assert.deepEqual(after('synced_passkey'), ['swk mfa', passkeyTime])
      })

  test('a passkey without a time of its own has that of the first proof', () => {
    const first = { amr: ['fed'] as const, authenticatedAtMs: FIRST_MS }
    const { amr, authenticatedAtMs } = authenticatedBy(first, { proof: 'bound_passkey' }, 'enter')
    assert.deepEqual([text(amr), authenticatedAtMs], ['hwk mfa', FIRST_MS])
  })

  for (const [purpose, passkeyTime] of Object.entries(PASSKEY_TIME) as [Purpose, number][])
    test(`something that is not known, to ${purpose}: a code alone is not more`, () => {
      const unknown = { amr: [], authenticatedAtMs: undefined }
      for (const proof of ['one_time_code', 'recovery_code'] as const)
        assert.deepEqual(authenticatedBy(unknown, { proof }, purpose), unknown)
      const { amr, authenticatedAtMs } = authenticatedBy(
        unknown,
        { proof: 'bound_passkey', provedAtMs: SECOND_MS },
        purpose,
      )
      assert.deepEqual([text(amr), authenticatedAtMs], ['hwk mfa', passkeyTime === FIRST_MS ? undefined : SECOND_MS])
    })

  test('what a session has is not repeated: a code at the set-up of another app', () => {
    const first = { amr: ['pwd', 'otp', 'mfa'] as const, authenticatedAtMs: FIRST_MS }
    for (const proof of ['one_time_code', 'recovery_code'] as const)
      assert.deepEqual([...authenticatedBy(first, { proof }, 'set_up').amr].sort(), ['mfa', 'otp', 'pwd'])
  })
})
