/** What is counted of an organisation, hour by hour. */

/** Added up. */
export const countedKinds = [
  "sign-ins",
  "failed-sign-ins",
  /** Answers of the token endpoint. */
  "tokens",
  /** Its refusals of clients that the organisation has. */
  "refused-tokens",
  /** Made by the agents of its pools. */
  "pool-signatures",
  "failed-pool-signatures",
] as const;

export type CountedKind = (typeof countedKinds)[number];

/** The most agents that were there at once. */
export const AGENTS = "agents";

export type ActivityKind = CountedKind | typeof AGENTS;

type PoolKind = Extract<CountedKind, `${string}pool-signatures`>;

/** The same for one pool: an organisation has few. */
export const ofPool = (kind: PoolKind, poolId: string): `${PoolKind}/${string}` => `${kind}/${poolId}`;

/** As it stands in the database. */
export type StoredKind = ActivityKind | ReturnType<typeof ofPool>;

/** On the hot path: it adds one in memory, and neither waits nor throws. @param orgId of an organisation that exists */
export type CountActivity = (orgId: string, kind: StoredKind) => void;

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
