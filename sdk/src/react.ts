'use client'
import {
  createContext,
  createElement,
  type ReactNode,
  useContext,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react'
import { createUserStore, type KnownUser, type UserStore } from './react/user-store.ts'

export type { User } from './user.ts'

const Store = createContext<UserStore | undefined>(undefined)

export interface SvcProviderProps {
  /** What the server knows of the user, where it renders the page: then there is nothing to ask. */
  user?: KnownUser
  children?: ReactNode
}

/** Tells the components inside who is signed in, and when that changes in this tab or in another one. */
export const SvcProvider = ({ user, children }: SvcProviderProps): ReactNode => {
  const [store] = useState(() => createUserStore(user))
  useEffect(() => store.take(user), [store, user])
  // React 18 takes no context as a component.
  return createElement(Store.Provider, { value: store }, children)
}

/** The signed-in user, null when nobody is signed in, and undefined while it is not known. */
export const useUser = (): KnownUser => {
  const store = useContext(Store)
  if (!store) throw new Error('useUser, <SignedIn> and <SignedOut> need a <SvcProvider> around them.')
  return useSyncExternalStore(store.subscribe, store.read, store.readOnServer)
}

/** Shows what is inside to signed-in users. */
export const SignedIn = ({ children }: { children?: ReactNode }): ReactNode => (useUser() ? children : null)

/** Shows what is inside to visitors who are not signed in. */
export const SignedOut = ({ children }: { children?: ReactNode }): ReactNode => (useUser() === null ? children : null)
