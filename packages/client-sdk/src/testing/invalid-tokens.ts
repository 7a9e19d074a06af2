/** Every way a token can be wrong, with the expected error: for the verifiers and the filters. */
import type { SignetErrorCode } from "../errors.ts";
import { sharedSecret, type TestKey } from "./signed-token.ts";
import {
  AUDIENCE,
  CLIENT_ID,
  ISSUER,
  START_MS,
  type TestProvider,
  type TokenChanges,
} from "./test-provider.ts";

/** What is wrong, the expected code, and the changes to a valid token. */
export type InvalidToken = readonly [what: string, code: SignetErrorCode, changes: TokenChanges];

export interface InvalidTokens {
  /** For any type of token. */
  readonly any: readonly InvalidToken[];
  readonly idToken: readonly InvalidToken[];
  readonly accessToken: readonly InvalidToken[];
  readonly logoutToken: readonly InvalidToken[];
}

const NOW = START_MS / 1000;

/** @param stranger an unpublished key with the same kid */
export function invalidTokens(provider: TestProvider, stranger: TestKey): InvalidTokens {
  return { any: anyToken(provider, stranger), idToken, accessToken, logoutToken };
}

function anyToken(provider: TestProvider, stranger: TestKey): readonly InvalidToken[] {
  return [
    ["another issuer", "token_issuer", { claims: { iss: "https://evil.example" } }],
    ["an issuer with a slash more", "token_issuer", { claims: { iss: `${ISSUER}/` } }],
    ["an issuer in capitals", "token_issuer", { claims: { iss: ISSUER.toUpperCase() } }],
    ["no issuer", "token_claim_missing", { claims: { iss: undefined } }],
    ["another audience", "token_audience", { claims: { aud: "somebody-else" } }],
    ["other audiences", "token_audience", { claims: { aud: ["one", "two"], azp: undefined } }],
    [
      "an audience that only begins as ours",
      "token_audience",
      { claims: { aud: `${AUDIENCE}.evil.example` } },
    ],
    ["no audience", "token_claim_missing", { claims: { aud: undefined } }],
    ["an empty audience", "token_audience", { claims: { aud: [] } }],
    ["an audience that is an object", "token_claim", { claims: { aud: { [CLIENT_ID]: true } } }],
    ["exp passed", "token_expired", { claims: { exp: NOW - 60 } }],
    ["no exp", "token_claim_missing", { claims: { exp: undefined } }],
    ["null as exp", "token_claim_missing", { claims: { exp: null } }],
    ["exp as a text", "token_claim", { claims: { exp: String(NOW + 3600) } }],
    ["nbf to come", "token_not_yet_valid", { claims: { nbf: NOW + 61 } }],
    ["iat to come", "token_not_yet_valid", { claims: { iat: NOW + 61 } }],
    ["no iat", "token_claim_missing", { claims: { iat: undefined } }],
    ["iat as a text", "token_claim", { claims: { iat: "now" } }],
    ["sub as a number", "token_claim", { claims: { sub: 7 } }],
    ["an empty sub", "token_claim", { claims: { sub: "" } }],
    ["an unknown kid", "token_key_unknown", { header: { kid: "key-2" } }],
    ["a kid that is a number", "token_malformed", { header: { kid: 1 } }],
    ["the signature of a key of its own", "token_signature", { key: stranger }],
    ["its own key in jwk", "token_signature", { key: stranger, header: { jwk: stranger.jwk } }],
    [
      "its own key in jwk, kid too",
      "token_key_unknown",
      { key: stranger, header: { kid: "e", jwk: stranger.jwk } },
    ],
    ["jku", "token_signature", { key: stranger, header: { jku: "https://evil.example/jwks" } }],
    ["x5u", "token_signature", { key: stranger, header: { x5u: "https://evil.example/x5u" } }],
    ["x5c", "token_signature", { key: stranger, header: { x5c: ["MIIB"] } }],
    ["crit", "token_malformed", { header: { crit: ["exp"] } }],
    ["b64: false", "token_malformed", { header: { crit: ["b64"], b64: false } }],
    ["alg none", "token_algorithm", { header: { alg: "none" } }],
    ["alg None", "token_algorithm", { header: { alg: "None" } }],
    ["no alg", "token_malformed", { header: { alg: undefined } }],
    ["an alg of another key type", "token_algorithm", { header: { alg: "RS256" } }],
    ["an alg of another curve", "token_algorithm", { header: { alg: "ES384" } }],
    ["the name of another token's type", "token_type", { header: { typ: "secevent+jwt" } }],
    [
      "HS256 with the public key as its secret",
      "token_algorithm",
      {
        header: { alg: "HS256" },
        key: sharedSecret(
          new TextEncoder().encode(JSON.stringify(provider.key.jwk)) as Uint8Array<ArrayBuffer>,
        ),
      },
    ],
  ];
}

const idToken: readonly InvalidToken[] = [
  ["no sub", "token_claim_missing", { claims: { sub: undefined } }],
  ["another nonce", "token_nonce", { claims: { nonce: "n-2" } }],
  ["no nonce", "token_nonce", { claims: { nonce: undefined } }],
  ["another azp", "token_audience", { claims: { azp: "somebody-else" } }],
  ["several audiences, no azp", "token_audience", { claims: { aud: [CLIENT_ID, "b"], azp: undefined } }],
  ["at_hash of another token", "token_claim", { claims: { at_hash: "x".repeat(22) } }],
  ["at_hash as a number", "token_claim", { claims: { at_hash: 0 } }],
  ["an old sign-in", "token_claim", { claims: { auth_time: NOW - 361 } }],
  ["no auth_time", "token_claim_missing", { claims: { auth_time: undefined } }],
  ["the type of an access token", "token_type", { header: { typ: "at+jwt" } }],
  ["the type of a logout token", "token_type", { header: { typ: "logout+jwt" } }],
];

const accessToken: readonly InvalidToken[] = [
  ["no sub", "token_claim_missing", { claims: { sub: undefined } }],
  ["no client_id", "token_claim_missing", { claims: { client_id: undefined } }],
  ["no jti", "token_claim_missing", { claims: { jti: undefined } }],
  ["no type", "token_type", { header: { typ: undefined } }],
  ["the type of an ID token", "token_type", { header: { typ: "JWT" } }],
];

const logoutToken: readonly InvalidToken[] = [
  ["neither sid nor sub", "token_claim_missing", { claims: { sub: undefined, sid: undefined } }],
  ["no events", "token_claim_missing", { claims: { events: undefined } }],
  ["other events", "token_claim", { claims: { events: { "urn:other": {} } } }],
  ["events as a list", "token_claim", { claims: { events: [] } }],
  ["a nonce", "token_claim", { claims: { nonce: "n-1" } }],
  ["no jti", "token_claim_missing", { claims: { jti: undefined } }],
  ["sid as a number", "token_claim", { claims: { sid: 1 } }],
];
