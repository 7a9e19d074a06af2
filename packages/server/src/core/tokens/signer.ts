/**
 * Signing tokens: by the organisation's local keys, or by the agents of the application's signing pool behind the same
 * interface. Local keys never sign for an application with a pool, whatever the state of the pool.
 */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { atHash, signJws } from "@signet/protocol/jose/jws";
import type { Database, Db } from "../../db/open.ts";
import type { Application, ClientSource, GrantType } from "../applications/application.ts";
import { isAlgAllowed } from "../applications/security-profile.ts";
import type { SecurityProfile } from "../applications/security-settings.ts";
import type { LedgerRecorder, RecordedSignature } from "../ledger/recorder.ts";
import type { Organisation } from "../organisations/organisation.ts";
import type { ProtectedResource } from "../protected-resources/protected-resource.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import {
  type AccessTokenClaims,
  accessTokenClaims,
  type IdTokenClaims,
  idTokenClaims,
  type SigningConnection,
  type TokenSubject,
} from "./claims.ts";
import { insertOpaqueToken } from "./opaque-tokens.store.ts";

export interface TokensToSign {
  readonly organisation: Organisation;
  readonly application: Application;
  readonly accessToken: AccessTokenClaims;
  /** Without `at_hash`, which depends on the signature of the access token. */
  readonly idToken?: IdTokenClaims;
  /** For agents. */
  readonly connection?: SigningConnection;
  /** What was asked, for agents: what the tokens themselves do not tell. */
  readonly request?: AskedRequest;
  /** Whose rules the access token follows. */
  readonly resource?: ProtectedResource;
}

export interface AskedRequest {
  readonly securityProfile: SecurityProfile;
  /** RFC 8707. */
  readonly resources: readonly string[];
  readonly clientSource: ClientSource;
  /** Whether the client has signed the authorization request (RFC 9101); null where that is not known. */
  readonly requestSigned: boolean | null;
}

const askedRequest = ({ application, resources }: TokenSubject): Omit<AskedRequest, "requestSigned"> => ({
  securityProfile: application.settings.securityProfile,
  resources,
  clientSource: application.source,
});

/** @param requestSigned as in `AskedRequest` */
export function unsignedTokens(
  organisation: Organisation,
  subject: TokenSubject,
  now: number,
  requestSigned: boolean | null = null,
): TokensToSign {
  const idToken = idTokenClaims(subject, now);
  return {
    organisation,
    application: subject.application,
    accessToken: accessTokenClaims(subject, now),
    ...(idToken ? { idToken } : {}),
    ...(subject.added?.connection ? { connection: subject.added.connection } : {}),
    ...(subject.resource ? { resource: subject.resource } : {}),
    request: { ...askedRequest(subject), requestSigned },
  };
}

/** Equal for tokens that say the same, apart from their times and `jti`. A changed lifetime changes the hash. */
export function claimsHash({ accessToken, idToken }: TokensToSign): string {
  return sha256Base64url(JSON.stringify([withoutTimes(accessToken), idToken && withoutTimes(idToken)]));
}

function withoutTimes<Claims extends { iat: number; exp: number; jti?: unknown }>(claims: Claims): object {
  const { iat, exp, jti, ...rest } = claims;
  return { ...rest, lifetime: exp - iat };
}

/** The request behind the tokens: agents decide by it, and a repeated request finds the signing request of the first. */
export interface SigningContext {
  readonly grantType: GrantType;
  /** The client's network address. */
  readonly address: string;
  /** SHA-256 of the presented code or token; undefined for client credentials. */
  readonly proofHash?: string;
  /** The signing request that a browser waited for: its tokens are released while their claims are still right. */
  readonly signingRequest?: SigningRequestRef;
}

/** A signing request that a code refers to. */
export interface SigningRequestRef {
  readonly requestId: string;
  /** The token family that the tokens name; it starts when the code is redeemed. */
  readonly familyId: string;
  readonly claimsHash: string;
  /** Of the authorization request, for agents that sign anew when the code is redeemed; absent where that is not known. */
  readonly requestSigned?: boolean | null;
}

export interface SignedTokens {
  readonly accessToken: string;
  readonly idToken?: string;
  /** Expiry of the access token in seconds, when the agent signed later than the claims were built. */
  readonly exp?: number;
}

/** Tokens that an agent has signed; they are released once. */
export interface HeldTokens {
  /**
   * @param db the transaction that consumes the grant; left out when nothing is consumed
   * @throws OAuthError temporarily_unavailable when the tokens were released before
   */
  release(db?: Db): Promise<SignedTokens>;
}

export interface Signer {
  /** Signs both tokens or neither. @throws OAuthError when no agent signs */
  sign(tokens: TokensToSign, signingContext: SigningContext): Promise<SignedTokens | HeldTokens>;
}

/** @param db the transaction that consumes the grant */
export async function releaseTokens(signed: SignedTokens | HeldTokens, db?: Db): Promise<SignedTokens> {
  return "release" in signed ? signed.release(db) : signed;
}

interface LocalSignerDeps {
  readonly database: Pick<Database, "query">;
  readonly ledger: LedgerRecorder;
}

/** What is signed is in the organisation's ledger before it is handed out, whether the grant is then consumed or not. */
export function localSigner(keys: SigningKeys, { database, ledger }: LocalSignerDeps): Signer {
  return {
    sign: async (tokens) => {
      const { organisation, application, idToken } = tokens;
      if (application.settings.signingPoolId !== undefined)
        throw new Error("the tokens of this application are signed by a pool");
      const signed: RecordedSignature[] = [];
      const accessToken = await (tokens.resource?.accessTokenFormat === "opaque"
        ? opaqueToken(database.query, tokens)
        : signedAccessToken(keys, tokens, signed));
      const signedId = idToken && (await signedIdToken(keys, tokens, { idToken, accessToken }, signed));
      if (signed.length > 0 && organisation.settings.ledger !== "off")
        await ledger.record(organisation.id, signed);
      return { accessToken, ...(signedId === undefined ? {} : { idToken: signedId }) };
    },
  };
}

async function signedAccessToken(
  keys: SigningKeys,
  { organisation, application: { settings }, accessToken, resource }: TokensToSign,
  signed: RecordedSignature[],
): Promise<string> {
  const wanted = resource?.accessTokenAlg ?? settings.accessTokenSignedResponseAlg;
  // A profile that the application is held to counts before the resource's wish.
  const alg = isAlgAllowed(settings, wanted) ? wanted : settings.accessTokenSignedResponseAlg;
  const key = await keys.signer(organisation.id, alg);
  const jws = await signJws({ ...signingInput(key), typ: settings.accessTokenType, payload: accessToken });
  signed.push({ kind: "access_token", kid: key.kid, jws });
  return jws;
}

async function signedIdToken(
  keys: SigningKeys,
  { organisation, application }: TokensToSign,
  { idToken, accessToken }: { readonly idToken: IdTokenClaims; readonly accessToken: string },
  signed: RecordedSignature[],
): Promise<string> {
  const key = await keys.signer(organisation.id, application.settings.idTokenSignedResponseAlg);
  const payload = { ...idToken, at_hash: atHash(accessToken, key.alg) };
  const jws = await signJws({ ...signingInput(key), typ: "JWT", payload });
  signed.push({ kind: "id_token", kid: key.kid, jws });
  return jws;
}

/** Before the grant is consumed: of a grant that is refused then, a row is left that nobody has the token of. */
async function opaqueToken(db: Db, { accessToken: claims }: TokensToSign): Promise<string> {
  const token = randomSecret(OPAQUE_TOKEN_PREFIX);
  await insertOpaqueToken(db, { token, claims });
  return token;
}

export const OPAQUE_TOKEN_PREFIX = "sgn_at_";

const signingInput = ({ alg, kid, privateKey }: Awaited<ReturnType<SigningKeys["signer"]>>) => ({
  alg,
  kid,
  privateKey,
});
