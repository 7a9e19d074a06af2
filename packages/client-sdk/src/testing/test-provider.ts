/**
 * An OpenID provider in the same process, behind an injected `fetch`. It is correct until a test changes it: every member of its
 * documents, tokens and responses can be made wrong.
 */
import { signedToken, type TestKey, testKey } from "./signed-token.ts";

export const ISSUER = "https://id.example/oauth/0197aaaa-0000-7000-8000-000000000001";
export const CLIENT_ID = "0197aaaa-0000-7000-8000-0000000000c1";
export const AUDIENCE = "https://api.example";
export const PERM_ID = "0197aaaa-0000-4000-8000-0000000000f1";
/** Start of its clock: 1 January 2026, in milliseconds. */
export const START_MS = 1_767_225_600_000;

/** Members to change; undefined removes one. */
export type Changes = Readonly<Record<string, unknown>>;

export interface TokenChanges {
  readonly header?: Changes;
  readonly claims?: Changes;
  /** Signs it; the header's `kid` stays that of the published key unless `header` changes it. */
  readonly key?: Pick<TestKey, "sign">;
}

export interface TestProvider {
  readonly issuer: string;
  readonly fetch: typeof fetch;
  /** Milliseconds; `advance` takes seconds. */
  clock(): number;
  advance(seconds: number): void;
  /** Method and path of every request. */
  readonly calls: string[];
  /** Its published signing key. */
  readonly key: TestKey;
  /** Its documents: change their members. */
  readonly metadata: Record<string, unknown>;
  readonly keys: unknown[];
  readonly userinfo: Record<string, unknown>;
  /** Custom responses by path, e.g. `/token`. */
  readonly answers: Map<string, (request: Request) => Response | Promise<Response>>;
  /** Forms sent to the token endpoint, in order. */
  readonly forms: URLSearchParams[];
  /** The token endpoint's response; tests replace its members. */
  readonly tokenAnswer: Record<string, unknown>;
  idToken(changes?: TokenChanges): Promise<string>;
  accessToken(changes?: TokenChanges): Promise<string>;
  logoutToken(changes?: TokenChanges): Promise<string>;
}

export async function createTestProvider(): Promise<TestProvider> {
  const key = await testKey("key-1");
  let now = START_MS;
  const token = (typ: string, own: Changes, { header, claims, key: signer = key }: TokenChanges = {}) =>
    signedToken(signer, { alg: key.alg, kid: key.kid, typ, ...header }, { ...base(now), ...own, ...claims });
  const documents = documentsOf(key);
  const calls: string[] = [];
  const forms: URLSearchParams[] = [];
  const answers: TestProvider["answers"] = new Map();
  const respond = async (request: Request): Promise<Response> => {
    const path = new URL(request.url).href.replace(ISSUER, "");
    calls.push(`${request.method} ${path}`);
    const answer = answers.get(path);
    if (answer) return answer(request);
    if (path === "/.well-known/openid-configuration") return Response.json(documents.metadata);
    if (path === "/jwks") return Response.json({ keys: documents.keys });
    if (path === "/userinfo") return Response.json(documents.userinfo);
    if (path !== "/token") return Response.json({ error: "not_found" }, { status: 404 });
    forms.push(new URLSearchParams(await request.text()));
    return Response.json(documents.tokenAnswer);
  };
  return {
    issuer: ISSUER,
    fetch: (input, init) => respond(new Request(input, init)),
    clock: () => now,
    advance: (seconds) => {
      now += seconds * 1000;
    },
    calls,
    key,
    ...documents,
    answers,
    forms,
    idToken: (changes) => token("JWT", { aud: CLIENT_ID, azp: CLIENT_ID, sid: "session-1" }, changes),
    accessToken: (changes) =>
      token("at+jwt", { aud: AUDIENCE, client_id: CLIENT_ID, jti: "jti-1", scope: "openid notes" }, changes),
    logoutToken: (changes) =>
      token("logout+jwt", { aud: CLIENT_ID, jti: "jti-2", sid: "session-1", events: logoutEvents }, changes),
  };
}

const logoutEvents = { "http://schemas.openid.net/event/backchannel-logout": {} };

function base(now: number) {
  const iat = now / 1000;
  return { iss: ISSUER, sub: PERM_ID, iat, exp: iat + 3600 };
}

function documentsOf(key: TestKey): Pick<TestProvider, "metadata" | "keys" | "userinfo" | "tokenAnswer"> {
  return {
    metadata: {
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/authorize`,
      token_endpoint: `${ISSUER}/token`,
      userinfo_endpoint: `${ISSUER}/userinfo`,
      end_session_endpoint: `${ISSUER}/end_session`,
      introspection_endpoint: `${ISSUER}/introspect`,
      jwks_uri: `${ISSUER}/jwks`,
      authorization_response_iss_parameter_supported: true,
    },
    keys: [key.jwk],
    userinfo: { sub: PERM_ID, email: "ada@example.com", given_name: "Ada", family_name: "Lovelace" },
    tokenAnswer: { token_type: "Bearer", expires_in: 3600 },
  };
}
