/** The six requests that all three contestants answer. */
import type { BareWork } from "./bare-works.ts";

export type WorkName =
  | "discovery"
  | "jwks"
  | "client-credentials"
  | "code-exchange"
  | "refresh"
  | "introspection";

/** What a row has to be given before it can be measured; named after the token's own name on the wire. */
export type SeedKind = "code" | "refresh_token" | "access_token";

/**
 * One of them, and what it must reach: processor time as a multiple (how much less than the other it may use), and the rate.
 */
export type Work = {
  name: WorkName;
  title: string;
  bare: BareWork;
  bars: { bareCpu: number; bareRate: number; peerCpu: number };
  seed?: {
    kind: SeedKind;
    field: string;
    vary: "once" | "cycle" | "chain";
    count: (connections: number, seconds: number) => number;
  };
};

/** Codes prepared per second of load; a server that is faster ends its interval early, which costs nothing. */
const codesPerSecond = 5000;

export const works: readonly Work[] = [
  {
    name: "discovery",
    title: "Discovery",
    bare: "hello",
    bars: { bareCpu: 0.9, bareRate: 0.85, peerCpu: 4 },
  },
  { name: "jwks", title: "JWKS", bare: "hello", bars: { bareCpu: 0.9, bareRate: 0.85, peerCpu: 3 } },
  {
    name: "client-credentials",
    title: "Client credentials",
    bare: "sign",
    bars: { bareCpu: 0.8, bareRate: 0.65, peerCpu: 4 },
  },
  {
    name: "code-exchange",
    title: "Code exchange",
    bare: "exchange",
    bars: { bareCpu: 0.8, bareRate: 0.8, peerCpu: 2 },
    seed: {
      kind: "code",
      field: "code",
      vary: "once",
      count: (_connections, seconds) => codesPerSecond * seconds,
    },
  },
  {
    name: "refresh",
    title: "Refresh, rotating",
    bare: "refresh",
    bars: { bareCpu: 0.9, bareRate: 0.95, peerCpu: 2 },
    seed: {
      kind: "refresh_token",
      field: "refresh_token",
      vary: "chain",
      count: (connections) => connections,
    },
  },
  {
    name: "introspection",
    title: "Introspection",
    bare: "introspect",
    bars: { bareCpu: 0.62, bareRate: 0.6, peerCpu: 2.5 },
    seed: { kind: "access_token", field: "token", vary: "cycle", count: () => 200 },
  },
];

/** The same code binding for everybody: PKCE (RFC 7636) is checked in every exchange. */
export const codeVerifier = "bench-verifier-0123456789-abcdefghijklmnopqrstuvwxyz";
export const redirectUri = "https://app.bench.example/callback";
