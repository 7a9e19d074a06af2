/** A request as an honest service sends it, with changes for a test. */
import { randomUUID } from "node:crypto";
import type { AgentKey } from "../keys/key-source.ts";
import type { ClaimedRequest } from "../service/signing-service.ts";

export const ISSUER = "https://id.example/oauth/org/sovereign/pools/pool";
export const CLIENT = "11111111-1111-4111-8111-111111111111";
export const USER = "22222222-2222-4222-8222-222222222222";

export const POLICY = `
issuer: ${ISSUER}
clients:
  ${CLIENT}:
    aud: [api]
    scopes: [openid, email]
    claims: [email]
    maxLifetime: 3600
    grants: [authorization_code, refresh_token]
limits: { perSubjectPerMin: 10, concurrency: 16 }
`;

export interface Changes {
  readonly access?: Readonly<Record<string, unknown>>;
  readonly id?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly context?: Partial<ClaimedRequest["context"]>;
  readonly interactive?: boolean;
  readonly withoutIdToken?: boolean;
  /** JSON text in place of the access token's claims. */
  readonly accessText?: (text: string) => string;
}

export type RequestBody = Omit<ClaimedRequest, "leaseToken" | "attempt">;

/** @param now milliseconds */
export function sampleRequest(key: AgentKey, now: number, changes: Changes = {}): RequestBody {
  const iat = Math.floor(now / 1000);
  const common = { iss: ISSUER, sub: USER, iat, exp: iat + 3600, auth_time: iat - 5, amr: ["pwd"], acr: "1" };
  const access = {
    ...common,
    aud: ["api", ISSUER],
    jti: randomUUID(),
    client_id: CLIENT,
    org_id: "org",
    scope: "openid email",
    ...changes.access,
  };
  const id = { ...common, aud: CLIENT, azp: CLIENT, nonce: "n", email: "uma@example", ...changes.id };
  return {
    requestId: randomUUID(),
    leaseSeconds: 30,
    expiresIn: 300,
    interactive: changes.interactive ?? true,
    context: {
      issuer: ISSUER,
      clientId: CLIENT,
      clientName: "Shop",
      grantType: "authorization_code",
      scope: ["openid", "email"],
      sub: USER,
      ip: "192.0.2.1",
      ...changes.context,
    },
    tokens: [
      buildToken("access_token", key, { typ: "at+jwt", ...changes.header }, access, changes.accessText),
      ...(changes.withoutIdToken ? [] : [buildToken("id_token", key, { typ: "JWT", ...changes.header }, id)]),
    ],
  };
}

/** Undefined members are left out. */
function buildToken(
  use: string,
  key: AgentKey,
  header: object,
  claims: object,
  change: (text: string) => string = (text) => text,
) {
  const whole: Record<string, unknown> = { alg: key.alg, kid: key.kid, ...header };
  const encode = (text: string) => Buffer.from(text).toString("base64url");
  return {
    use,
    kid: String(whole["kid"]),
    alg: String(whole["alg"]),
    protected: encode(JSON.stringify(whole)),
    payload: encode(change(JSON.stringify(claims))),
  };
}
