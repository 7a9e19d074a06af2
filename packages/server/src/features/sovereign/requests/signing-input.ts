/**
 * The bytes an agent signs (sovereign-signing.md §1 and §6): rendered anew at every claim, and compared with what comes back.
 * Submitted JWTs are never parsed: header and payload must be the rendered bytes, and the signature must verify.
 */
import { randomUUID } from "node:crypto";
import {
  type AgentAlg,
  type AgentVerificationKey,
  verifyAgentSignature,
} from "@signet/protocol/agent-signature";
import { sha256Base64url } from "@signet/protocol/hash";
import { seconds } from "../../../core/clock.ts";
import { messageTypes } from "../../../core/tokens/signed-message.ts";
import { renewTokenId } from "../../../core/tokens/token-family.ts";
import { type ClaimsToSign, type RenderedToken, type TokenUse, tokenUses } from "./signing-request.ts";

/** What differs between two renderings of the same claims; stored with the lease instead of the bytes. */
export type Rendering = ReturnType<typeof newRendering>;
export type RenderedTokens = ReturnType<typeof renderTokens>;

/** @param now milliseconds */
export const newRendering = (now: number, pool: { readonly maxTokenLifetimeSeconds: number }) => ({
  /** Seconds since the epoch. */
  iat: seconds(now),
  /** The pool's limit at that time; the claims' own `exp - iat` is the application's. */
  longestSeconds: pool.maxTokenLifetimeSeconds,
  /** For the `jti`, so that no two leases get the same. */
  random: randomUUID() as string,
});

/** Seconds that a message without an `exp` counts as current: its key is published, and whoever asks again gets the same. */
const CURRENT_SECONDS = 120;

/** Deterministic: the same arguments give the same bytes. The header has `alg`, `typ` and `kid` only. */
export function renderTokens(
  { accessToken, idToken, message }: ClaimsToSign,
  { kid, alg }: { readonly kid: string; readonly alg: AgentAlg },
  { iat, longestSeconds, random }: Rendering,
) {
  const expOf = (token: { readonly iat: number; readonly exp: number }) =>
    iat + Math.min(token.exp - token.iat, longestSeconds);
  const expAfter = (seconds: number) => iat + Math.min(seconds, longestSeconds);
  const messageId = message?.use === "id_jag" ? random : undefined;
  const jti = accessToken ? renewTokenId(accessToken.jti, random) : messageId;
  const exp = accessToken ? expOf(accessToken) : expAfter(message?.lifetimeSeconds ?? CURRENT_SECONDS);
  const render = (use: RenderedToken["use"], typ: string, payload: object): RenderedToken => ({
    use,
    kid,
    alg,
    protected: base64urlJson({ alg, typ, kid }),
    payload: base64urlJson(payload),
  });
  const tokens: readonly RenderedToken[] = [
    ...(accessToken ? [render("access_token", "at+jwt", { ...accessToken, iat, exp, jti })] : []),
    ...(idToken ? [render("id_token", "JWT", { ...idToken, iat, exp: expOf(idToken) })] : []),
    ...(message
      ? [
          render(message.use, messageTypes[message.use], {
            ...message.claims,
            iat,
            ...(message.lifetimeSeconds === undefined ? {} : { exp: expAfter(message.lifetimeSeconds) }),
            ...(messageId === undefined ? {} : { jti: messageId }),
          }),
        ]
      : []),
  ];
  // `exp` and `jti` are the access token's, where there is one; all have the same `iat`.
  return { tokens, iat, exp, jti };
}

const base64urlJson = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

type SigningInput = Pick<RenderedToken, "protected" | "payload">;

const signingInput = (token: SigningInput): string => `${token.protected}.${token.payload}`;

/** What a passkey signs for an agent: SHA-256 over the signing inputs, joined by line feeds (sovereign-signing.md §5). */
export const passkeyChallenge = (tokens: readonly SigningInput[]): string =>
  sha256Base64url(tokens.map(signingInput).join("\n"));

/** SHA-256 of each signing input; kept after the tokens are gone. */
export const inputHashes = (rendered: readonly RenderedToken[]): Record<string, string> =>
  Object.fromEntries(rendered.map((token) => [token.use, sha256Base64url(signingInput(token))]));

/** By use, as submitted; anything but a string counts as missing. */
export type SubmittedJwts = Readonly<Partial<Record<TokenUse, unknown>>>;

export type CheckedJwts = Readonly<Partial<Record<TokenUse, string>>>;

export type InvalidJwtReason = "bytes_mismatch" | "bad_encoding" | "bad_signature" | "missing_token";

/** @param key the registered key, with the one algorithm it was registered for */
export async function checkJwts(
  rendered: readonly RenderedToken[],
  jwts: SubmittedJwts,
  key: AgentVerificationKey,
): Promise<{ readonly jwts: CheckedJwts } | { readonly reason: InvalidJwtReason }> {
  const expected = Object.fromEntries(rendered.map((token) => [token.use, signingInput(token)]));
  const reason = await findFault(jwts, key, expected, (input, wanted) => input === wanted);
  if (reason) return { reason };
  // Nothing else that was submitted is stored.
  return { jwts: Object.fromEntries(rendered.map(({ use }) => [use, jwts[use]])) as CheckedJwts };
}

/** Whether these JWTs sign the inputs with these hashes: the rendering is gone once a request is signed. */
export async function matchesInputHashes(
  hashes: Readonly<Record<string, string>>,
  jwts: SubmittedJwts,
  key: AgentVerificationKey,
): Promise<boolean> {
  const isSame = (input: string, hash: string) => sha256Base64url(input) === hash;
  return (await findFault(jwts, key, hashes, isSame)) === undefined;
}

/** The first fault, in the order of §6: present, well-formed, the right bytes, the right key. */
async function findFault(
  jwts: SubmittedJwts,
  key: AgentVerificationKey,
  expected: Readonly<Record<string, string>>,
  isSame: (signingInput: string, expected: string) => boolean,
): Promise<InvalidJwtReason | undefined> {
  for (const use of tokenUses) {
    const wanted = expected[use];
    const jwt = jwts[use];
    if (wanted === undefined && jwt !== undefined) return "bytes_mismatch";
    if (wanted === undefined) continue;
    if (typeof jwt !== "string") return "missing_token";
    const parts = jwt.split(".", 4);
    const [header, payload, signature] = parts;
    if (parts.length !== 3 || header === undefined || payload === undefined || !signature)
      return "bad_encoding";
    const input = `${header}.${payload}`;
    if (!isSame(input, wanted)) return "bytes_mismatch";
    const verdict = await verifyAgentSignature(key, input, signature);
    if (verdict !== "good") return verdict;
  }
  return undefined;
}
