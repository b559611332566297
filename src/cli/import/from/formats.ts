import { auth0 } from './auth0.ts'
import { clerk } from './clerk.ts'
import { firebase } from './firebase.ts'
import type { Format } from './format.ts'
import { keycloak } from './keycloak.ts'
import { kratos } from './kratos.ts'

export const FORMATS: Readonly<Record<string, Format>> = { auth0, clerk, firebase, keycloak, kratos }
