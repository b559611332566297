/** A piece of SVG. */
export type Svg = string

type Attributes = Record<string, string | number>

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const escape = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character)

/** Tenths of a pixel are enough. */
const round = (value: string | number): string =>
  typeof value === 'number' ? String(Math.round(value * 10) / 10) : escape(value)

export const element = (name: string, attributes: Attributes, children: readonly Svg[] = []): Svg => {
  const opening = [name, ...Object.entries(attributes).map(([key, value]) => `${key}="${round(value)}"`)].join(' ')
  return children.length === 0 ? `<${opening}/>` : `<${opening}>${children.join('')}</${name}>`
}

export const text = (content: string, attributes: Attributes): Svg => element('text', attributes, [escape(content)])

interface Picture {
  width: number
  height: number
  /** Read out in place of the picture. */
  title: string
  description: string
  parts: readonly Svg[]
}

/** A complete SVG file with a title and a description for people who do not see it. */
export const picture = ({ width, height, title, description, parts }: Picture): string => {
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: 'img',
    'aria-labelledby': 'title description',
    'font-family': 'system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif',
    'font-size': 13,
  }
  const labels = [
    element('title', { id: 'title' }, [escape(title)]),
    element('desc', { id: 'description' }, [escape(description)]),
  ]
  return `${element(
    'svg',
    attributes,
    [...labels, ...parts].map((part) => `\n${part}`),
  )}\n`
}
