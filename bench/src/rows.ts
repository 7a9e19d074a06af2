import type { BareWork } from "./contestants/bare-works.ts";
import type { Vary } from "./load/load-plan.ts";

export type RowName =
  | "discovery"
  | "jwks"
  | "client-credentials"
  | "code-exchange"
  | "refresh"
  | "introspection";

/** What a row has to be given before it can be measured; named after the token's own name on the wire. */
export type SeedKind = "code" | "refresh_token" | "access_token";

/** One line of the table: what is measured, and how much of the bare limit and of the peer it must reach. */
export type Row = {
  name: RowName;
  title: string;
  bare: BareWork;
  bars: { bare: number; peer: number };
  seed?: {
    kind: SeedKind;
    field: string;
    vary: Vary["kind"];
    count: (connections: number, seconds: number) => number;
  };
};

/** Codes prepared per second of load; a server that is faster ends its interval early, which costs nothing. */
const codesPerSecond = 5000;

export const rows: readonly Row[] = [
  { name: "discovery", title: "Discovery", bare: "hello", bars: { bare: 0.85, peer: 4 } },
  { name: "jwks", title: "JWKS", bare: "hello", bars: { bare: 0.85, peer: 2.5 } },
  { name: "client-credentials", title: "Client credentials", bare: "sign", bars: { bare: 0.75, peer: 4 } },
  {
    name: "code-exchange",
    title: "Code exchange",
    bare: "exchange",
    bars: { bare: 0.65, peer: 2 },
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
    bars: { bare: 0.7, peer: 2 },
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
    bars: { bare: 0.6, peer: 2 },
    seed: { kind: "access_token", field: "token", vary: "cycle", count: () => 200 },
  },
];

/** The same code binding for everybody: PKCE (RFC 7636) is checked in every exchange. */
export const codeVerifier = "bench-verifier-0123456789-abcdefghijklmnopqrstuvwxyz";
export const redirectUri = "https://app.bench.example/callback";
