// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { readCsv } from '../../src/cli/import/csv.ts'
import { type Item, readJsonLines, readJsonObjects } from '../../src/cli/import/json.ts'

type Read = (chunks: AsyncIterable<Buffer>) => AsyncGenerator<Item>

/** What is read from a file that arrives in pieces of these lengths. */
const itemsOf = async (read: Read, text: string, lengths: number[] = [65_536]): Promise<Item[]> => {
  const bytes = Buffer.from(text)
  async function* pieces() {
    for (let start = 0, index = 0; start < bytes.length; index += 1) {
      const end = start + (lengths[index % lengths.length] ?? 1)
      yield bytes.subarray(start, end)
      start = end
    }
  }
  const items: Item[] = []
  for await (const item of read(pieces())) items.push(item)
  return items
}

const users: Read = (chunks) => readJsonObjects(chunks, 'users')
const plain: Read = (chunks) => readJsonObjects(chunks)
const quoted = (field: string): string => `"${field.replaceAll('"', '""')}"`

const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 })
const text = fc.string({
  unit: fc.constantFrom('a', '"', '\\', '{', '}', '[', ']', ',', ':', '\n', 'é', '😀', 'users'),
})
const objects = fc.array(
  fc.dictionary(
    text,
    fc.oneof(
      text,
      fc.json().map((each) => JSON.parse(each) as unknown),
    ),
  ),
  {
    maxLength: 4,
  },
)
const numbered = (values: unknown[]): Item[] => values.map((value, index) => ({ number: index + 1, value }))
/** As JSON keeps it: without the sign of a zero, for example. */
const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

describe('objects of a JSON document, wherever its pieces end', () => {
  test('of an array, of a member, and one after another', async () => {
    await fc.assert(
      fc.asyncProperty(objects, text, lengths, fc.constantFrom(0, 2), async (given, other, pieces, indent) => {
        const values = throughJson(given)
        const expected = numbered(values)
        assert.deepEqual(await itemsOf(plain, JSON.stringify(values, null, indent), pieces), expected)
        assert.deepEqual(await itemsOf(users, JSON.stringify(values, null, indent), pieces), expected)
        const lines = values.map((value) => JSON.stringify(value)).join('\n')
        assert.deepEqual(await itemsOf(plain, lines, pieces), expected)
        const document = {
          other,
          nested: { users: [{ not: 'a user' }] },
          list: [{ users: [{}] }],
          users: values,
          end: [{}],
        }
        assert.deepEqual(await itemsOf(users, JSON.stringify(document, null, indent), pieces), expected)
      }),
      { numRuns: 200 },
    )
  })

  test('one that is broken, too long, or not complete', async () => {
    const long = `{"a":"${'x'.repeat(1024 * 1024)}"}`
    assert.deepEqual(await itemsOf(plain, `[{"a":tru}, ${long}, {"b":1}, {"c":`, [1000]), [
      { number: 1, problem: 'it is not valid JSON' },
      { number: 2, problem: 'it is longer than 1 MiB' },
      { number: 3, value: { b: 1 } },
      { number: 4, problem: 'the file ends in the middle of it' },
    ])
  })
})

describe('JSON Lines, wherever its pieces end', () => {
  test('values, empty lines and both line ends', async () => {
    await fc.assert(
      fc.asyncProperty(objects, lengths, fc.constantFrom('\n', '\r\n'), async (given, pieces, lineEnd) => {
        const values = throughJson(given)
        const content = values.map((value) => `${JSON.stringify(value)}${lineEnd}${lineEnd}`).join('')
        const expected = values.map((value, index) => ({ number: index * 2 + 1, value }))
        assert.deepEqual(await itemsOf(readJsonLines, content, pieces), expected)
      }),
    )
  })
})

describe('comma-separated values, wherever their pieces end', () => {
  test('fields with quotes, commas and line ends', async () => {
    const field = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r\n', 'é'), minLength: 1 })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(field, field), { maxLength: 4 }), lengths, async (records, pieces) => {
        const content = [['one', 'two'], ...records].map((each) => each.map(quoted).join(',')).join('\r\n')
        const expected = records.map(([one, two]) => ({ one, two }))
        assert.deepEqual(await itemsOf(readCsv, content, pieces), numbered(expected))
      }),
    )
  })

  test('empty fields are left out, empty lines do not count, and a record with other columns is refused', async () => {
    assert.deepEqual(await itemsOf(readCsv, 'a,b\n1,\n\n,2\n1,2,3\n'), [
      { number: 1, value: { a: '1' } },
      { number: 2, value: { b: '2' } },
      { number: 3, problem: 'it has 3 fields, and the first line has 2' },
    ])
  })
})
