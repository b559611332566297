/** What hashes cost by default. */
export const OWASP_COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
