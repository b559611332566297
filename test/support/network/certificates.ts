import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

/** A certificate and its private key, PEM. */
export type Certificate = { certificate: string; key: string }

/** A new certificate authority, which no system trusts. */
export type Authority = { root: string; issue(commonName: string, dnsName?: string): Certificate }

// X.690: tag, length and content.
const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length: size } = content
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}
const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts)
const octets = (...parts: Buffer[]): Buffer => der(0x04, ...parts)
const bits = (content: Buffer): Buffer => der(0x03, Buffer.from([0]), content)
const identifier = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))
const date = (text: string): Buffer => der(0x17, Buffer.from(text))
const yes = der(0x01, Buffer.from([0xff]))

const ECDSA_WITH_SHA256 = sequence(identifier('2a8648ce3d040302'))
const VALIDITY = sequence(date('200101000000Z'), date('491231235959Z'))

const nameOf = (commonName: string): Buffer =>
  sequence(der(0x31, sequence(identifier('550403'), der(0x0c, Buffer.from(commonName)))))

const IS_AUTHORITY = sequence(identifier('551d13'), yes, octets(sequence(yes)))
const alsoNamed = (dnsName: string): Buffer =>
  sequence(identifier('551d11'), octets(sequence(der(0x82, Buffer.from(dnsName)))))

const pem = (content: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${content.toString('base64').replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`

type Facts = {
  serial: number
  issuer: string
  subject: string
  publicKey: KeyObject
  extensions: Buffer[]
  signedWith: KeyObject
}

/** RFC 5280 section 4.1 */
const certify = ({ serial, issuer, subject, publicKey, extensions, signedWith }: Facts): string => {
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([serial])),
    ECDSA_WITH_SHA256,
    nameOf(issuer),
    VALIDITY,
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length > 0 ? [der(0xa3, sequence(...extensions))] : []),
  )
  return pem(sequence(content, ECDSA_WITH_SHA256, bits(sign('sha256', content, signedWith))))
}

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' })

/** Creates an authority, which issues certificates for servers and clients. */
export const createAuthority = (issuer: string): Authority => {
  const own = newKeys()
  let serial = 1
  const common = { issuer, signedWith: own.privateKey }
  return {
    root: certify({ ...common, serial, subject: issuer, publicKey: own.publicKey, extensions: [IS_AUTHORITY] }),
    issue(subject, dnsName) {
      const { publicKey, privateKey } = newKeys()
      serial += 1
      const extensions = dnsName === undefined ? [] : [alsoNamed(dnsName)]
      return {
        certificate: certify({ ...common, serial, subject, publicKey, extensions }),
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      }
    },
  }
}
