import { type HtmlFragment, html } from '../../lib/html.ts'

/** Each run of dark modules of a row is one rectangle, one module high. */
const darkRuns = (row: readonly boolean[], y: number): string => {
  const runs: string[] = []
  for (let x = 0; x < row.length; x += 1) {
    if (!row[x] || row[x - 1]) continue
    const end = row.indexOf(false, x)
    const width = (end < 0 ? row.length : end) - x
    runs.push(`M${x} ${y}h${width}v1h-${width}z`)
  }
  return runs.join('')
}

/** A QR code as SVG. Scanners want it dark on light, whatever the colours of the page are. */
export const qrCodeSvg = (modules: readonly (readonly boolean[])[], label: string): HtmlFragment => {
  const size = modules.length
  const dark = modules.map(darkRuns).join('')
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${dark}"/></svg>`
}
