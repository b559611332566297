import { cache } from 'react'

const once = cache(() => ({}))

/** Whether a page is rendered, and no route or action runs: React keeps results for the render of a page alone. */
export const isRendering = (): boolean => once() === once()
