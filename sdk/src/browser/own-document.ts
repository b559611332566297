// A page may hold HTML of its users: an image called `cookie` hides what the document has under that name, an element
// called `svcSession` is found on the window, and `<base>` moves relative addresses to another origin.

export const ofDocument = <Name extends 'baseURI' | 'cookie' | 'hidden'>(name: Name): Document[Name] =>
  Reflect.get(Document.prototype, name, document)

/** What a script has put on the window, or the browser. */
export const ofWindow = (name: string): unknown => (Object.hasOwn(window, name) ? Reflect.get(window, name) : undefined)

/** The address of a path of svc. */
export const addressOfSvc = (path: string): URL => new URL(path, location.origin)

/** Throws on a server, where there is no page whose cookies could say anything. */
export const requirePage = (): void => {
  if (typeof document !== 'undefined') return
  throw new TypeError(
    '@svc/sdk/browser is for scripts in pages. On a server, @svc/sdk/server reads the user of a request.',
  )
}
