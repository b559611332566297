import { getUser } from '@svc/sdk/next'
import { countNotes } from '../notes'

export default async function Home() {
  const user = await getUser()
  return (
    <>
      <h1>Notes</h1>
      <p>There are {countNotes()} notes.</p>
      {user && (
        <p>
          Hello, {user.username}. <a href="/notes">Your notes</a>
        </p>
      )}
      {user === null && <a href="/auth/login?return_to=%2Fnotes">Log in</a>}
    </>
  )
}
