import fc from 'fast-check'

/** What HTML must never contain as it was sent. */
export const MARKUP = '<script>fuzz"\'</script>'

const TEXTS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\r\n',
  '\u007f\u0080\u009f',
  '\ufffd\ufeff',
  '\u202e\u200b',
  'e\u0301',
  'ﬀ ẞ İ ı',
  '𝕏'.repeat(300),
  'x'.repeat(4000),
  '%',
  '%ff',
  '%00',
  '+',
  '&=;',
  '__proto__',
  'constructor',
  'null',
  'undefined',
  'true',
  '[]',
  '{}',
  '[[[[[[[[',
  '{"a":1}',
  '"',
  "'--",
  "' OR '1'='1",
  '${7*7}',
  MARKUP,
  '../../x',
  '//evil.example',
  '/\\evil.example',
  'https://evil.example/',
  'javascript:alert(1)',
  '/start?a=%0d%0a#b',
  'a@example.com\r\nBcc: b@example.com',
  'a@[127.0.0.1]',
  `${'a'.repeat(64)}@${'b'.repeat(63)}.example`,
  'x'.repeat(43),
]
const NUMBERS = ['0', '-0', '-1', '1', '1.5', '1e3', '1e999', 'NaN', '٣', '0x10', '2147483648', '9223372036854775808']
const TIMES = [
  '2026-11-22T00:00:00Z',
  '2026-11-22T00:00:00.000+14:00',
  '0000-01-01T00:00:00Z',
  '-271821-04-20T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '9999-12-31T23:59:60Z',
  '2026-02-30T25:61:61Z',
]
const IDS = ['00000000-0000-0000-0000-000000000000', '019ab000-0000-7000-8000-000000000000', 'ABCDEF']

/** Texts that have broken programs before: well-formed, so that they can be encoded in every place. */
export const nasty: fc.Arbitrary<string> = fc
  .oneof(
    { weight: 3, arbitrary: fc.constantFrom(...TEXTS) },
    { weight: 2, arbitrary: fc.constantFrom(...NUMBERS, ...TIMES, ...IDS) },
    { weight: 1, arbitrary: fc.string({ maxLength: 40 }) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  )
  .map((text) => text.toWellFormed())

/** Values that a header can have as an HTTP client sends it. */
export const headerText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'abz09-_/:;,="<>()[]{}@?\\ \té\u00ff'), maxLength: 60 }),
  fc.constantFrom(
    '',
    ',',
    '*',
    '*/*',
    'null',
    'none',
    'x'.repeat(3000),
    '"',
    '\u0080',
    'text/html',
    'application/json',
  ),
  fc.constantFrom('http://evil.example', 'same-origin', 'cross-site', 'navigate', 'chunked', 'gzip', 'bytes=0-1'),
  fc.constantFrom('203.0.113.9', '2001:db8::1', '::ffff:1.2.3.4', '1.2.3.4, 5.6.7.8, unknown', 'for=1.2.3.4;host=x'),
)
