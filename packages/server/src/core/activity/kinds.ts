/** The counters of an organisation, hour by hour. */

/** Summed. */
export const countedKinds = [
  "sign-ins",
  "failed-sign-ins",
  /** Successful token responses. */
  "tokens",
  /** Token errors, for known clients. */
  "refused-tokens",
  /** By the agents of its pools. */
  "pool-signatures",
  "failed-pool-signatures",
] as const;

export type CountedKind = (typeof countedKinds)[number];

/** The peak of connected agents. */
export const AGENTS = "agents";

export type ActivityKind = CountedKind | typeof AGENTS;

type PoolKind = Extract<CountedKind, `${string}pool-signatures`>;

/** The counter of one pool: an organisation has few. */
export const ofPool = (kind: PoolKind, poolId: string): `${PoolKind}/${string}` => `${kind}/${poolId}`;

/** As stored. */
export type StoredKind = ActivityKind | ReturnType<typeof ofPool>;

/** On the hot path: increments a counter in memory, never waits or throws. @param orgId of an existing organisation */
export type CountActivity = (orgId: string, kind: StoredKind) => void;

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
