/** The counters of an organisation, hour by hour. */
import { counter } from "../../telemetry/families.ts";

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

/** Peaks: of connected agents, and of requests that wait for a pool's agents. */
export const AGENTS = "agents";

export type ActivityKind = CountedKind | typeof AGENTS;

type PoolKind = Extract<CountedKind, `${string}pool-signatures`>;

/** The counter of one pool: an organisation has few. */
export const ofPool = (kind: PoolKind, poolId: string): `${PoolKind}/${string}` => `${kind}/${poolId}`;

/** Peaks of one pool. */
export type PoolPeak = "pool-agents" | "pool-queue";
export const peakOfPool = (kind: PoolPeak, poolId: string): `${PoolPeak}/${string}` => `${kind}/${poolId}`;

/** The largest of several hours counts; other kinds are summed. */
export const isPeak = (kind: string): boolean =>
  kind === AGENTS || kind.startsWith("pool-agents/") || kind.startsWith("pool-queue/");

/** How a user signed in: the parts of `sign-ins`. */
export const signInMethods = ["passkey", "password-and-factor", "password", "email", "connection"] as const;
export type SignInMethod = (typeof signInMethods)[number];

export const ofMethod = (method: SignInMethod): `sign-ins/${SignInMethod}` => `sign-ins/${method}`;

/** @param amr of the session (RFC 8176) */
export function signInMethod(amr: readonly string[]): SignInMethod {
  if (amr.includes("fed")) return "connection";
  if (amr.includes("email")) return "email";
  if (!amr.includes("pwd")) return "passkey";
  return amr.length > 1 ? "password-and-factor" : "password";
}

/** The parts of `tokens`. */
export const OF_APPLICATIONS = "tokens/";
export const ofApplication = (clientId: string): `${typeof OF_APPLICATIONS}${string}` =>
  `${OF_APPLICATIONS}${clientId}`;

/** As stored. */
export type StoredKind =
  | ActivityKind
  | ReturnType<typeof ofPool>
  | ReturnType<typeof peakOfPool>
  | ReturnType<typeof ofMethod>
  | ReturnType<typeof ofApplication>;

/** On the hot path: increments a counter in memory, never waits or throws. @param orgId of an existing organisation */
export type CountActivity = (orgId: string, kind: StoredKind) => void;

const signIns = counter(
  { name: "signet_sign_ins_total", help: "Sign-ins, by what they were tried with and what came of it" },
  ["method", "outcome"],
);

/** @param method what failed */
export function countFailedSignIn(
  count: CountActivity,
  orgId: string,
  method: SignInMethod | "second-factor",
): void {
  count(orgId, "failed-sign-ins");
  signIns.at(method, "failure").value++;
}

/** @param amr of the session that has started */
export function countSignIn(count: CountActivity, orgId: string, amr: readonly string[]): void {
  signIns.at(signInMethod(amr), "success").value++;
  count(orgId, "sign-ins");
  count(orgId, ofMethod(signInMethod(amr)));
}

export function countToken(count: CountActivity, orgId: string, clientId: string): void {
  count(orgId, "tokens");
  count(orgId, ofApplication(clientId));
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
