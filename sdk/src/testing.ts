export type { NewUser, SignedIn, SignInCookie, TestUser } from './testing/accounts.ts'
export type { Arrivals } from './testing/arrivals.ts'
export type { Message, ReceivedWebhook } from './testing/dev-process.ts'
export { type Scope, type StartSvcOptions, startSvc, type TestSvc } from './testing/start-svc.ts'
