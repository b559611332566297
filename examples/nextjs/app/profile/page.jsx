import { requireUser } from '@svc/sdk/next'

// Not in the matcher of proxy.js: the page alone asks who the user is.
export default async function Profile() {
  const { username, email } = await requireUser({ returnTo: '/profile' })
  return (
    <>
      <h1>Profile of {username}</h1>
      <p>{email}</p>
    </>
  )
}
