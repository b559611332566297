// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppError } from '../../src/lib/errors.ts'
import { parsePasswordHash as parse } from '../../src/accounts/passwords/foreign-hashes/foreign-hashes.ts'
import { KNOWN_HASHES } from '../support/hashes/known-hashes.ts'

const parsePasswordHash = (text: string) => parse(text, 2 ** 30)

for (const [source, hashes] of Object.entries(KNOWN_HASHES)) {
  describe(source, () => {
    for (const { password, hash } of hashes) {
      test(hash.slice(0, 60), async () => {
        const { matches } = parsePasswordHash(hash)
        const right = Buffer.from(password)
        assert.equal(await matches(right), true)
        assert.equal(await matches(Buffer.from(`x${String(password)}`)), false)
      })
    }
  })
}

describe('bcrypt', () => {
  // crypt_blowfish, wrapper.c: "chars after 72 are ignored".
  const hash = '$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui'
  const characters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
  const long = `0123456789${characters}0123456789chars after 72 are ignored`

  test('the first 72 bytes count, as where it was made, and no fewer', async () => {
    const { matches } = parsePasswordHash(hash)
    for (const password of [long, long.slice(0, 72), `${long.slice(0, 72)}${'x'.repeat(300)}`])
      assert.equal(await matches(Buffer.from(password)), true)
    assert.equal(await matches(Buffer.from(long.slice(0, 71))), false)
  })

  test('a character in two halves around the 72nd byte is cut as bytes', async () => {
    // bcrypt 4.0.1 from PyPI, of 50 times é.
    const { matches } = parsePasswordHash('$2b$04$G4mu0NkjFuyhAuK/gS4yL.YCwQysXJO9exf8WJC5ARnZzOEO2c206')
    assert.equal(await matches(Buffer.from('é'.repeat(36))), true)
    assert.equal(await matches(Buffer.from('é'.repeat(35))), false)
  })
})

describe('bcrypt with bits that mean nothing', () => {
  // Some programs leave them set at the end of salt and hash; others write zeros.
  for (const end of ['.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeX', '/E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW']) {
    test(end, async () => {
      const { matches } = parsePasswordHash(`$2a$05$CCCCCCCCCCCCCCCCCCCCC${end}`)
      assert.equal(await matches(Buffer.from('U*U')), true)
      assert.equal(await matches(Buffer.from('U*V')), false)
    })
  }
})

describe('SHA-crypt', () => {
  // Made with passlib 1.7.4 from PyPI, of 512 times x.
  test('a password of more than 512 bytes matches nothing', async () => {
    const { matches } = parsePasswordHash(
      '$6$rounds=1000$cFoAayMNxY7ogEUd$YiiUaZ7IvNdEBYOomXlUCrnbQuVTlG63J2p5iRt79ANAz8DXC6clta26P8rdEqpf9gKcFM.7Oe3T0hN1D.tAm1',
    )
    assert.equal(await matches(Buffer.from('x'.repeat(512))), true)
    assert.equal(await matches(Buffer.from('x'.repeat(513))), false)
  })
})

describe('costs', () => {
  const accepted = [
    `$argon2id$v=19$m=1048576,t=1,p=1$c29tZXNhbHQ4$${'A'.repeat(43)}`,
    `$2b$17$${'.'.repeat(53)}`,
    `$scrypt$ln=19,r=8,p=1$c2FsdA$${'A'.repeat(43)}`,
    `$pbkdf2-sha512$i=10000000$c2FsdA$${'A'.repeat(86)}`,
    `$6$rounds=900000$salt$${'A'.repeat(86)}`,
    // passlib's own.
    `$5$rounds=535000$salt$${'A'.repeat(43)}`,
    `$6$rounds=656000$salt$${'A'.repeat(86)}`,
  ]
  for (const hash of accepted) {
    test(`accepted: ${hash.slice(0, 40)}`, () => {
      const { memoryBytes, seconds } = parsePasswordHash(hash)
      assert.ok(memoryBytes <= 2 ** 30 && seconds <= 10)
    })
  }

  const absurd = [
    `$argon2id$v=19$m=1048577,t=1,p=1$c29tZXNhbHQ4$${'A'.repeat(43)}`,
    `$argon2id$v=19$m=65536,t=4294967295,p=1$c29tZXNhbHQ4$${'A'.repeat(43)}`,
    `$2b$18$${'.'.repeat(53)}`,
    `$2y$31$${'.'.repeat(53)}`,
    `$scrypt$ln=21,r=8,p=1$c2FsdA$${'A'.repeat(43)}`,
    `$scrypt$ln=99,r=8,p=1$c2FsdA$${'A'.repeat(43)}`,
    `$scrypt$ln=16,r=8,p=9999$c2FsdA$${'A'.repeat(43)}`,
    `$scrypt$ln=1,r=9999,p=9999$c2FsdA$${'A'.repeat(43)}`,
    `scrypt:2097152:8:1$salt$${'a'.repeat(128)}`,
    `$fbscrypt$v=1,n=30,r=8,p=1,ss=Bw==,sk=${'A'.repeat(22)}==$c2FsdA==$${'A'.repeat(22)}==`,
    `$pbkdf2-sha1$i=2147483647$c2FsdA$${'A'.repeat(27)}`,
    `$pbkdf2-sha256$2147483647$c2FsdA$${'A'.repeat(43)}`,
    `pbkdf2_sha256$2147483647$salt$${'A'.repeat(43)}=`,
    `$5$rounds=999999999$salt$${'A'.repeat(43)}`,
    `$6$rounds=900001$salt$${'A'.repeat(86)}`,
    `$scrypt$ln=1,r=1024,p=8191$c2FsdA$${'A'.repeat(43)}`,
  ]
  for (const hash of absurd) {
    test(`refused: ${hash.slice(0, 40)}`, () => {
      assert.throws(
        () => parsePasswordHash(hash),
        (error) =>
          error instanceof AppError &&
          error.code === 'unprocessable' &&
          error.field === 'password_hash' &&
          /too expensive.*1024 MiB and (?:10|2) s/.test(error.message),
      )
    })
  }
})

const argon2 = (parameters: string, salt = 'c29tZXNhbHQ4', key = 'A'.repeat(43)) =>
  `$argon2id$v=19$${parameters}$${salt}$${key}`

describe('what is not read', () => {
  const unreadable: Record<string, string> = {
    'the empty text': '',
    'a password': 'correct horse battery',
    'a secret stayed with the other system': argon2('m=64,t=2,p=1,keyid=AAAA'),
    'an unknown variant': argon2('m=64,t=2,p=1').replace('argon2id', 'argon2x'),
    'an unknown version': argon2('m=64,t=2,p=1').replace('v=19', 'v=20'),
    'no passes': argon2('m=64,t=0,p=1'),
    'no lanes': argon2('m=64,t=1,p=0'),
    'less memory than its lanes need': argon2('m=64,t=1,p=9'),
    'parameters in another order': argon2('t=2,m=64,p=1'),
    'a short salt': argon2('m=64,t=2,p=1', 'c2FsdA'),
    'a key that many passwords have': argon2('m=64,t=2,p=1', 'c29tZXNhbHQ4', 'AAAA'),
    'a key that is longer than the library can check': argon2('m=64,t=2,p=1', 'c29tZXNhbHQ4', 'A'.repeat(88)),
    'a key with bits that mean nothing': argon2('m=64,t=2,p=1', 'c29tZXNhbHQ4', `${'A'.repeat(42)}B`),
    'the base64 of addresses': argon2('m=64,t=2,p=1', 'c29tZXNhbHQ4', '_'.repeat(43)),
    'a mistake of old programs': `$2x$05$${'.'.repeat(53)}`,
    'a cost below those of bcrypt': `$2b$03$${'.'.repeat(53)}`,
    'a bcrypt hash that was cut': `$2b$05$${'.'.repeat(52)}`,
    'bcrypt of a hash': `$bcrypt-sha256$v=2,t=2b,r=12$${'.'.repeat(53)}`,
    'Kratos writes N where other systems write its logarithm': `$scrypt$ln=16384,r=8,p=1$c2FsdA$${'A'.repeat(43)}`,
    'an N that is no power of two': `scrypt:1000:8:1$salt$${'a'.repeat(128)}`,
    'an N that is too large for its r': `$scrypt$ln=16,r=1,p=1$c2FsdA$${'A'.repeat(43)}`,
    'an r of 0': `$scrypt$ln=10,r=0,p=1$c2FsdA$${'A'.repeat(43)}`,
    'half a byte': `scrypt:1024:8:1$salt$${'a'.repeat(127)}`,
    'another separator': `${'a'.repeat(32)}$${'a'.repeat(128)}`,
    'capitals, which Better Auth does not write': `${'A'.repeat(32)}:${'a'.repeat(128)}`,
    'Firebase without its signer key': `$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==$c2FsdA==$${'A'.repeat(22)}==`,
    'a hash of another length than the signer key': `$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=AAAA$c2FsdA==$${'A'.repeat(22)}==`,
    'no iterations': `$pbkdf2-sha256$i=0$c2FsdA$${'A'.repeat(43)}`,
    'a length that is not that of the key': `$pbkdf2-sha256$i=1000,l=20$c2FsdA$${'A'.repeat(43)}`,
    'an unknown digest': `$pbkdf2-md5$i=1000$c2FsdA$${'A'.repeat(43)}`,
    'more iterations than can be counted': `$pbkdf2-sha256$i=99999999999$c2FsdA$${'A'.repeat(43)}`,
    'MD5-crypt': '$1$etNnh7FA$OlM7eljE/B7F1J4XYNnk81',
    'too few rounds': `$5$rounds=999$salt$${'A'.repeat(43)}`,
    'rounds with zeros in front': `$5$rounds=01000$salt$${'A'.repeat(43)}`,
    'the key of the other SHA-crypt': `$6$salt$${'A'.repeat(43)}`,
    'a line end': `$5$salt$${'A'.repeat(43)}\n`,
    'a space': ` $5$salt$${'A'.repeat(43)}`,
    'a NUL': `$5$salt$${'A'.repeat(43)}\0`,
    'a very long text': `$scrypt$ln=10,r=8,p=1$${'A'.repeat(4000)}$${'A'.repeat(43)}`,
  }
  for (const [what, hash] of Object.entries(unreadable)) {
    test(what, () => {
      assert.throws(
        () => parsePasswordHash(hash),
        (error) => {
          assert.ok(error instanceof AppError && error.code === 'unprocessable' && error.field === 'password_hash')
          for (const form of [
            '$argon2id$',
            '$2b$',
            '$scrypt$',
            'scrypt:N:r:p',
            'salt:key',
            '$fbscrypt$',
            '$pbkdf2-',
            '$6$',
          ])
            assert.ok(error.message.includes(form), error.message)
          // An error may be logged and shown: it never repeats what may be a password.
          assert.ok(hash.length < 9 || !error.message.includes(hash))
          return true
        },
      )
    })
  }
})
