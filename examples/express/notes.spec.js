import { expect, test } from '@playwright/test'

// Each test begins with ada, grace and nobody else.
test.beforeEach(async ({ request }) => {
  await expect(await request.post('/auth/dev/reset')).toBeOK()
})

test('users see their notes until their session has ended', async ({ page }) => {
  // The page has the cookies of page.request.
  await page.request.post('/auth/dev/sign-in', { data: { email: 'mary@example.com' } })
  await page.goto('/notes')
  await page.getByLabel('Note').fill('bread')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('bread')).toBeVisible()
  await page.request.post('/auth/dev/clock', { data: { forward: '1000h' } })
  await page.goto('/notes')
  await expect(page).toHaveURL('/auth/login?return_to=%2Fnotes')
})

test('a visitor signs up on the way to a page, and follows the link in the message', async ({ page }) => {
  await page.goto('/notes')
  await page.getByRole('link', { name: 'Create an account' }).click()
  await page.getByLabel('Email').fill('mary@example.com')
  await page.getByLabel('Password', { exact: true }).fill('four unrelated words')
  await page.getByRole('button', { name: 'Create account' }).click()
  await expect(page.getByText('Notes of mary')).toBeVisible()
  const messages = async () => (await (await page.request.get('/auth/dev/mail.json')).json()).messages
  await expect.poll(messages).toHaveLength(1)
  const [{ to, links }] = await messages()
  expect(to).toBe('mary@example.com')
  await page.goto(links[0])
  await page.getByRole('button', { name: 'Confirm' }).click()
  await expect(page.getByRole('status')).toHaveText('Email address confirmed.')
})
