import { SignedIn, SignedOut } from '@svc/sdk/react'
import { countNotes } from '../notes'
import { Greeting } from './greeting'

export default function Home() {
  return (
    <>
      <h1>Notes</h1>
      <p>There are {countNotes()} notes.</p>
      <SignedIn>
        <Greeting />
      </SignedIn>
      <SignedOut>
        <a href="/auth/login?return_to=%2Fnotes">Log in</a>
      </SignedOut>
    </>
  )
}
