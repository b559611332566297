import { requireUser } from '@svc/sdk/next'
import { revalidatePath } from 'next/cache'
import { addNote, notesOf } from '../../notes'

async function add(form) {
  'use server'
  const user = await requireUser()
  addNote(user.id, String(form.get('text')))
  revalidatePath('/notes')
}

export default async function Notes() {
  const user = await requireUser()
  return (
    <>
      <h1>Notes of {user.username}</h1>
      <ul>
        {notesOf(user.id).map(({ text }, index) => (
          <li key={index}>{text}</li>
        ))}
      </ul>
      <form action={add}>
        <input name="text" aria-label="Note" required />
        <button>Save</button>
      </form>
      <p>
        <a href="/auth/logout">Log out</a>
      </p>
    </>
  )
}
