/** The numbers are red, green and blue, each 0 to 255. */
export type Colour = readonly [number, number, number]

export const WHITE: Colour = [255, 255, 255]
export const BLACK: Colour = [0, 0, 0]

const HEX = /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i

/** Parses `#rrggbb`; throws a TypeError on any other text. */
export const parseColour = (hex: string): Colour => {
  const [, red, green, blue] = HEX.exec(hex) ?? []
  if (!red || !green || !blue) throw new TypeError(`Not a colour of the form #rrggbb: ${hex}`)
  return [Number.parseInt(red, 16), Number.parseInt(green, 16), Number.parseInt(blue, 16)]
}

/** Writes a colour as `#rrggbb`. */
export const toHex = (colour: Colour): string =>
  `#${colour.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`

/** Mixes two colours; `share` (0 to 1) is the part of the second. */
export const mix = (from: Colour, to: Colour, share: number): Colour => {
  const channel = (index: 0 | 1 | 2): number => Math.round(from[index] + (to[index] - from[index]) * share)
  return [channel(0), channel(1), channel(2)]
}

const linear = (channel: number): number => {
  const part = channel / 255
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
}

const luminance = ([red, green, blue]: Colour): number =>
  0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)

/** Computes the contrast ratio, 1 to 21 (WCAG 2.2, "contrast ratio"). */
export const contrast = (one: Colour, other: Colour): number => {
  const [first, second] = [luminance(one), luminance(other)]
  return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05)
}

/** Mixes the colour with as little of `pole` as gives it at least the contrast `ratio` on all `grounds`. */
export const readableOn = (grounds: readonly Colour[], colour: Colour, pole: Colour, ratio: number): Colour => {
  for (let percent = 0; percent < 100; percent += 1) {
    const candidate = mix(colour, pole, percent / 100)
    if (grounds.every((ground) => contrast(candidate, ground) >= ratio)) return candidate
  }
  return pole
}
