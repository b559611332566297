import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statementName } from '../../src/storage/postgres.ts'

test('a prepared statement is named after its text alone, so that no process means another one by the same name', () => {
  assert.equal(statementName('SELECT 1'), 'svc_4ATr1bVTKkuFmEpi-K1IqB')
  assert.notEqual(statementName('SELECT 1'), statementName('SELECT 2'))
  assert.match(statementName(`SELECT ${'1'.repeat(10_000)}`), /^svc_[\w-]{22}$/)
})
