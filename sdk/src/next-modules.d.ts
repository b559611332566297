// What the entry uses of Next.js, which is too large to be installed for its types alone.

declare module 'next/headers.js' {
  export function headers(): Promise<Headers>
}

declare module 'next/navigation.js' {
  export function redirect(url: string): never
}

declare module 'next/server.js' {
  export const NextResponse: {
    next(init?: { request: { headers: Headers } }): Response
  }
}
