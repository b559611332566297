// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { choice, flag, jsonBody, optional, text, textList } from '../../src/api/v2/json-body.ts'
import { readJson } from '../../src/http/body/json.ts'
import { AppError } from '../../src/lib/errors.ts'

const read = (body: string | Buffer, type: string | undefined = 'application/json', encoding?: string) =>
  readJson(Buffer.from(body), type, encoding)

/** Code, field and message of the refusal. */
const refusal = (action: () => unknown): [code: string, field: string | undefined, message: string] => {
  try {
    action()
  } catch (error) {
    if (error instanceof AppError) return [error.code, error.field, error.message]
    throw error
  }
  throw new Error('it was accepted')
}

describe('a JSON body', () => {
  test('is an object, in UTF-8', () => {
    assert.deepEqual(read('{"a":[1,{"b":"é\\u0000"}],"c":null}'), { a: [1, { b: 'é\0' }], c: null })
    assert.deepEqual(read('{}', 'Application/JSON; charset="UTF-8"', 'identity'), {})
  })

  for (const body of [
    '',
    '[]',
    '"a"',
    'null',
    '1',
    '{',
    '{"a":1,}',
    "{'a':1}",
    '{"a":1}{}',
    '\ufeff{}',
    '{"a":"\u0000"}',
  ])
    test(`400: ${JSON.stringify(body)}`, () => {
      assert.equal(refusal(() => read(body))[0], 'invalid_request')
    })

  test('400: bytes that are not UTF-8', () => {
    assert.equal(refusal(() => read(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])))[0], 'invalid_request')
  })

  for (const [name, body] of Object.entries({
    a: '{"a":1,"a":2}',
    b: '{"c":[{"b":1,"x":{"b":3},"b":2}]}',
    é: '{"\\u00e9":1,"é":2}',
    'a":"': '{"a\\":\\"":1,"a\\":\\"":1}',
    __proto__: '{"__proto__":1,"__proto__":2}',
  }))
    test(`400: a member that is there twice: ${body}`, () => {
      assert.deepEqual(refusal(() => read(body)).slice(0, 2), ['invalid_request', name])
    })

  test('may have the same member in several objects, and in texts', () => {
    const body = { a: { a: [{ a: '{"a":1,"a":2}' }, { a: '"a":' }] }, b: 'a', c: '\\"a": "' }
    assert.deepEqual(read(JSON.stringify(body)), body)
  })

  test('400: nested too deeply, at any depth', () => {
    for (const depth of [17, 1000, 30_000]) {
      const body = `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`
      assert.match(refusal(() => read(body))[2], /nested/)
    }
  })

  test('takes time that grows with its length only', () => {
    for (const part of ['\\"', '\\\\', '"a', '[', '{"a":'])
      assert.equal(refusal(() => read(`{"a":"${part.repeat(30_000)}`))[0], 'invalid_request')
  })

  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=utf-16',
    'json',
    '',
  ])
    test(`415: ${type}`, () => {
      assert.deepEqual(refusal(() => read('{}', type)).slice(0, 2), ['unsupported_media_type', 'Content-Type'])
    })

  test('415: without a type, or compressed', () => {
    assert.equal(refusal(() => readJson(Buffer.from('{}'), undefined, undefined))[1], 'Content-Type')
    assert.equal(refusal(() => read('{}', 'application/json', 'gzip'))[1], 'Content-Encoding')
  })
})

const BODY = jsonBody({
  email: text({ maxLength: 254 }),
  roles: optional(textList()),
  disabled: optional(flag()),
  purpose: optional(choice('reset', 'invite')),
})

describe('the fields of a body', () => {
  test('are read, and those left out are undefined', () => {
    const given = { email: 'a', roles: ['b'], disabled: false, purpose: 'reset' }
    assert.deepEqual(BODY.read(given), given)
    assert.equal(BODY.read({ email: 'a' }).roles, undefined)
  })

  for (const [field, body] of [
    ['email', '{}'],
    ['email', '{"email":null}'],
    ['email', '{"email":1}'],
    ['email', '{"email":["a"]}'],
    ['email', '{"email":"\\ud800"}'],
    ['roles', '{"email":"a","roles":"b"}'],
    ['roles', '{"email":"a","roles":["b",1]}'],
    ['roles', '{"email":"a","roles":["\\udfff"]}'],
    ['roles', '{"email":"a","roles":{"length":1,"0":"b"}}'],
    ['disabled', '{"email":"a","disabled":"true"}'],
    ['disabled', '{"email":"a","disabled":0}'],
    ['purpose', '{"email":"a","purpose":"other"}'],
    ['Email', '{"email":"a","Email":"b"}'],
    ['__proto__', '{"email":"a","__proto__":{"disabled":true}}'],
    ['constructor', '{"email":"a","constructor":{}}'],
    ['toString', '{"email":"a","toString":"b"}'],
  ] as const)
    test(`422 names ${field}: ${body}`, () => {
      const [code, named, message] = refusal(() => BODY.read(read(body)))
      assert.deepEqual([code, named], ['unprocessable', field])
      assert.ok(message.includes(field))
    })

  test('are named in part where the name is long', () => {
    const [, field = '', message] = refusal(() => BODY.read({ email: 'a', ['x'.repeat(60_000)]: 1 }))
    assert.ok(field.length < 100 && message.length < 300)
  })

  test('are described as a closed schema', () => {
    assert.deepEqual(BODY.schema, {
      type: 'object',
      required: ['email'],
      properties: {
        email: { type: 'string', maxLength: 254 },
        roles: { type: 'array', items: { type: 'string' } },
        disabled: { type: 'boolean' },
        purpose: { type: 'string', enum: ['reset', 'invite'] },
      },
      additionalProperties: false,
    })
  })
})
