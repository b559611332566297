import { hash } from 'node:crypto'

// "Unix crypt using SHA-256 and SHA-512", Ulrich Drepper, version 0.6. The numbers of the steps are those of its text.

const ALPHABET = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Step 22: the first three bytes of each digest that make four characters; the others follow in the same manner. */
const ENCODING = {
  sha256: {
    groups: 10,
    first: [0, 10, 20],
    next: ([a, b, c]) => [c + 1, a + 1, b + 1],
    rest: [31, 30],
  },
  sha512: { groups: 21, first: [0, 21, 42], next: ([a, b, c]) => [b + 1, c + 1, a + 1], rest: [63] },
}

/** The lowest six bits first. */
const characters = (value, count) =>
  Array.from({ length: count }, (_, index) => ALPHABET[(value >> (6 * index)) & 63]).join('')

const encode = (digest, { groups, first, next, rest }) => {
  let text = ''
  let triple = first
  for (let group = 0; group < groups; group += 1) {
    const [high, middle, low] = triple.map((index) => digest[index])
    text += characters((high << 16) | (middle << 8) | low, 4)
    triple = next(triple)
  }
  return (
    text +
    characters(
      rest.reduce((value, index) => (value << 8) | digest[index], 0),
      rest.length + 1,
    )
  )
}

/** The digest again and again, up to this length. */
const stretched = (digest, length) => Buffer.alloc(length, length === 0 ? undefined : digest)

/** Steps 1 to 12. */
const initialDigest = (digest, password, salt) => {
  const alternate = hash(digest, Buffer.concat([password, salt, password]), 'buffer')
  const parts = [password, salt, stretched(alternate, password.length)]
  for (let bits = password.length; bits > 0; bits >>= 1) parts.push(bits & 1 ? alternate : password)
  return hash(digest, Buffer.concat(parts), 'buffer')
}

/**
 * Step 21: what a round hashes, for each of its eight kinds. All of it stays the same but the digest of the round
 * before, which has its place at the beginning or at the end.
 */
const roundInputs = (size, password, salt) =>
  Array.from({ length: 8 }, (_, kind) => {
    const digestFirst = (kind & 1) === 0
    const middle = [kind & 2 ? salt : [], kind & 4 ? password : []].map((part) => Buffer.from(part))
    const hole = Buffer.alloc(size)
    const input = Buffer.concat(digestFirst ? [hole, ...middle, password] : [password, ...middle, hole])
    return { input, offset: digestFirst ? 0 : input.length - size }
  })

const kindOf = (round) => (round & 1) | (round % 3 ? 2 : 0) | (round % 7 ? 4 : 0)

/** The last part of a hash by SHA-crypt. */
export default ({ digest, password: passwordBytes, salt: saltText, rounds }) => {
  const [password, salt] = [Buffer.from(passwordBytes), Buffer.from(saltText)]
  let current = initialDigest(digest, password, salt)
  const size = current.length
  // Steps 13 to 20.
  const longPassword = Buffer.alloc(password.length ** 2, password.length === 0 ? undefined : password)
  const passwordSequence = stretched(hash(digest, longPassword, 'buffer'), password.length)
  const longSalt = Buffer.concat(Array.from({ length: 16 + current[0] }, () => salt))
  const saltSequence = stretched(hash(digest, longSalt, 'buffer'), salt.length)
  const inputs = roundInputs(size, passwordSequence, saltSequence)
  for (let round = 0; round < rounds; round += 1) {
    const { input, offset } = inputs[kindOf(round)]
    current.copy(input, offset)
    current = hash(digest, input, 'buffer')
  }
  return encode(current, ENCODING[digest])
}
