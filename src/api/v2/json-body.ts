import { AppError } from '../../lib/errors.ts'
import type { Schema } from '../../http/route.ts'
import { type JsonObject, shownName } from '../../http/body/json.ts'

interface JsonField<Value> {
  schema: Schema
  isRequired: boolean
  /** `expected` says which values would be accepted: `must be a text`. */
  expected: string
  /** It returns undefined for a value that is not accepted. */
  read: (value: unknown) => Value | undefined
}

/** A route takes this body: it says how the body is read, and how the OpenAPI document describes it. */
export interface JsonBody<Values> {
  schema: Schema
  /** Throws `unprocessable`, with the field, for a member that is unknown, missing or of another type. */
  read: (body: JsonObject) => Values
}

type ValuesOf<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends JsonField<infer Value> ? Value : never
}

export const jsonBody = <Fields extends Record<string, JsonField<unknown>>>(
  fields: Fields,
): JsonBody<ValuesOf<Fields>> => {
  const entries = Object.entries(fields)
  const required = entries.flatMap(([name, { isRequired }]) => (isRequired ? [name] : []))
  return {
    schema: {
      type: 'object',
      ...(required.length > 0 && { required }),
      properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
      additionalProperties: false,
    },
    read(body) {
      for (const name of Object.keys(body)) if (!Object.hasOwn(fields, name)) throw unknown(name, Object.keys(fields))
      const values = entries.map(([name, field]) => [name, readField(name, field, body)])
      return Object.fromEntries(values) as ValuesOf<Fields>
    },
  }
}

const readField = (name: string, field: JsonField<unknown>, body: JsonObject): unknown => {
  if (!Object.hasOwn(body, name)) {
    if (!field.isRequired) return undefined
    throw refusal(name, `The field "${name}" is missing: it ${field.expected}.`)
  }
  const value = field.read(body[name])
  if (value === undefined) throw refusal(name, `The field "${name}" ${field.expected}.`)
  return value
}

const refusal = (field: string, message: string): AppError => new AppError('unprocessable', message, { field })

const unknown = (sent: string, known: string[]): AppError => {
  const name = shownName(sent)
  return refusal(name, `There is no field ${JSON.stringify(name)} here; there are ${known.join(', ')}.`)
}

/** Reads a text that has no halves of characters, which no database can store. */
const readText = (value: unknown): string | undefined =>
  typeof value === 'string' && value.isWellFormed() ? value : undefined

/** The field takes a text. The rules of the domain say which ones are accepted. */
export const text = (schema: Schema = {}): JsonField<string> => ({
  schema: { type: 'string', ...schema },
  isRequired: true,
  expected: 'must be a text',
  read: readText,
})

export const flag = (schema: Schema = {}): JsonField<boolean> => ({
  schema: { type: 'boolean', ...schema },
  isRequired: true,
  expected: 'must be true or false',
  read: (value) => (typeof value === 'boolean' ? value : undefined),
})

export const textList = (schema: Schema = {}): JsonField<string[]> => ({
  schema: { type: 'array', items: { type: 'string' }, ...schema },
  isRequired: true,
  expected: 'must be a list of texts',
  read(value) {
    if (!Array.isArray(value)) return undefined
    const texts = value.map(readText)
    return texts.every((it) => it !== undefined) ? texts : undefined
  },
})

export const choice = <const Choice extends string>(...choices: Choice[]): JsonField<Choice> => ({
  schema: { type: 'string', enum: choices },
  isRequired: true,
  expected: `must be one of ${choices.map((it) => `"${it}"`).join(', ')}`,
  read: (value) => choices.find((it) => it === value),
})

/** The field may be null, which is told from a field that is left out. */
export const nullable = <Value>({ schema, expected, read, ...field }: JsonField<Value>): JsonField<Value | null> => ({
  ...field,
  schema: { ...schema, type: [schema.type, 'null'] },
  expected: `${expected} or null`,
  read: (value) => (value === null ? null : read(value)),
})

/** The field may be left out; it is then undefined. */
export const optional = <Value>(field: JsonField<Value>): JsonField<Value | undefined> => ({
  ...field,
  isRequired: false,
})
