// Runs once.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { AUDIT_TYPES } from '../../src/audit/audit-event.ts'
import { AUDIT_SCHEMAS } from '../../src/api/v2/audit-schemas.ts'

const document = readFileSync(new URL('../../docs/audit.md', import.meta.url), 'utf8')

/** The names in the first column of the table below a heading. */
const namesBelow = (heading: string): string[] => {
  const section = document.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return section.split('\n').flatMap((line) => {
    const [, first = ''] = line.split('|')
    return [...first.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name)
  })
}

describe('docs/audit.md', () => {
  test('names every type of record, and no other', () => {
    assert.deepEqual(namesBelow('Types').sort(), AUDIT_TYPES.toSorted())
  })

  test('names the fields and details that the server API describes, and no other', () => {
    const { AuditEvent, AuditDetails } = AUDIT_SCHEMAS
    assert.deepEqual(namesBelow('A record'), Object.keys(AuditEvent.properties))
    assert.deepEqual(namesBelow('Details').sort(), Object.keys(AuditDetails.properties).sort())
  })
})
