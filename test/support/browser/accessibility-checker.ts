import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

/** What the checker says of a page. What it could not judge is `incomplete`. */
export type Problems = Pick<AxeResults, 'violations' | 'incomplete'>

const CHECKER = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/**
 * Has every page that is opened from now on come with the checker. The browser compiles it once, and not for each page,
 * which would take longer than the check.
 */
export const bringChecker = (page: Page): Promise<unknown> => page.addInitScript({ content: CHECKER })

/** Checks the page by every rule, or by these alone. Nothing is gathered of what is in order. */
export const findProblems = async (page: Page, rules?: string[]): Promise<Problems> => {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(CHECKER)
  const options = { resultTypes: ['violations', 'incomplete'], ...(rules && { runOnly: rules }) }
  return (await page.evaluate(
    `axe.run(${JSON.stringify(options)}).then(({ violations, incomplete }) => ({ violations, incomplete }))`,
  )) as Problems
}
