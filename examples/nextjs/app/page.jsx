import { createAuth } from '@svc/sdk/server'
import { headers } from 'next/headers'
import { countNotes } from '../notes'

export default async function Home() {
  const received = await headers()
  const user = await createAuth().getUser(received)
  return (
    <>
      <h1>Notes</h1>
      <p>There are {countNotes()} notes.</p>
      {user ? (
        <p>
          Hello, {user.username}. <a href="/notes">Your notes</a>
        </p>
      ) : (
        <a href="/auth/login?return_to=%2Fnotes">Log in</a>
      )}
    </>
  )
}
