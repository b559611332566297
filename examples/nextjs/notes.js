// An application has a database here. Pages and routes are separate bundles, which share this.
const notes = (globalThis.notes ??= [])

export const countNotes = () => notes.length
export const notesOf = (owner) => notes.filter((note) => note.owner === owner)
export const addNote = (owner, text) => notes.push({ owner, text })
export const deleteNotesOf = (owner) => notes.splice(0, Infinity, ...notes.filter((note) => note.owner !== owner))
