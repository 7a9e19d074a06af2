/** An OpenID provider on loopback that a test makes lie: every answer can be changed, one by one. */
import { createHash, generateKeyPairSync, type KeyObject, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, SignJWT } from "jose";

export interface ProviderAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, or a text as it is; undefined: no answer ever. */
  readonly body?: unknown;
}

export interface HostileProvider {
  readonly issuer: string;
  readonly port: number;
  /** Merged into the claims of the next ID tokens; undefined takes one away. */
  claims: Record<string, unknown>;
  userinfo: Record<string, unknown>;
  metadata: Record<string, unknown>;
  /** By path, instead of the honest answer. */
  readonly answers: Map<string, ProviderAnswer | "silent">;
  /** Signs instead of the honest key. */
  signer: ((claims: Record<string, unknown>) => Promise<string>) | undefined;
  /** Paths that were asked for. */
  readonly asked: string[];
  /** What the honest person's claims are, for a nonce. */
  honest(nonce: string): Record<string, unknown>;
  readonly key: { readonly kid: string; readonly privateKey: KeyObject; readonly publicKey: KeyObject };
  /** A new key from now on, and the old one gone. */
  rotate(): void;
  /** Makes it honest again. */
  reset(): void;
  /** As the browser comes back: a code for what the authorization request asked. */
  comeBack(sentTo: string, more?: Readonly<Record<string, string | undefined>>): string;
  close(): Promise<void>;
}

const newKey = () => ({ kid: randomUUID(), ...generateKeyPairSync("ec", { namedCurve: "P-256" }) });
const clientId = "signet";

export async function startHostileProvider(now: () => number): Promise<HostileProvider> {
  const nonces = new Map<string, { readonly nonce: string; readonly challenge: string }>();
  /** By access token. */
  const subjects = new Map<string, unknown>();
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  let key = newKey();
  const provider: HostileProvider = {
    ...{ issuer, port, claims: {}, userinfo: {}, metadata: {}, answers: new Map(), signer: undefined },
    asked: [],
    honest: (nonce) => {
      const seconds = Math.floor(now() / 1000);
      const person = { sub: "ada-7", email: "ada@there.example", email_verified: true };
      const names = { given_name: "Ada", family_name: "Byron" };
      return { iss: issuer, aud: clientId, iat: seconds, exp: seconds + 300, nonce, ...person, ...names };
    },
    get key() {
      return key;
    },
    rotate: () => {
      key = newKey();
    },
    reset: () => {
      Object.assign(provider, { claims: {}, userinfo: {}, metadata: {}, signer: undefined });
      provider.answers.clear();
      provider.asked.splice(0);
    },
    comeBack: (sentTo, more = {}) => {
      const asked = new URL(sentTo).searchParams;
      const code = randomUUID();
      nonces.set(code, {
        nonce: asked.get("nonce") ?? "",
        challenge: asked.get("code_challenge") ?? "",
      });
      const back = new URL(asked.get("redirect_uri") ?? "");
      const sent = { code, state: asked.get("state") ?? "", ...more };
      for (const [name, value] of Object.entries(sent))
        if (value !== undefined) back.searchParams.set(name, value);
      return back.href;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", issuer);
    provider.asked.push(pathname);
    const told = provider.answers.get(pathname);
    if (told === "silent") return;
    const { status = 200, headers = {}, body } = told ?? (await honestAnswer(pathname, request));
    const text = typeof body === "string" ? body : JSON.stringify(body);
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
  }

  async function honestAnswer(pathname: string, request: IncomingMessage): Promise<ProviderAnswer> {
    switch (pathname) {
      case "/.well-known/openid-configuration":
        return { body: { ...discovery(issuer), ...provider.metadata } };
      case "/jwks": {
        const jwk = await exportJWK(key.publicKey);
        return { body: { keys: [{ ...jwk, kid: key.kid, alg: "ES256", use: "sig" }] } };
      }
      case "/userinfo":
        return { body: { sub: subjects.get(bearerOf(request)), ...provider.userinfo } };
      case "/authorize":
        // A browser comes by itself, and is sent back as the honest person.
        return { status: 303, headers: { location: provider.comeBack(`${issuer}${request.url}`) }, body: "" };
      case "/token":
        return token(new URLSearchParams(await textOf(request)));
      default:
        return { status: 404, body: {} };
    }
  }

  async function token(form: URLSearchParams): Promise<ProviderAnswer> {
    const code = form.get("code") ?? "";
    const known = nonces.get(code);
    nonces.delete(code);
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (known?.challenge !== challenge) return { status: 400, body: { error: "invalid_grant" } };
    const claims = { ...provider.honest(known.nonce), ...provider.claims };
    const present = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
    const sign = provider.signer ?? ((content) => signed(content, key));
    const accessToken = randomUUID();
    subjects.set(accessToken, present["sub"]);
    const issued = { access_token: accessToken, token_type: "Bearer", expires_in: 60 };
    return { body: { ...issued, id_token: await sign(present) } };
  }
  return provider;
}

export const signed = (
  claims: Record<string, unknown>,
  { kid, privateKey }: { readonly kid: string; readonly privateKey: KeyObject },
): Promise<string> => new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid }).sign(privateKey);

const discovery = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  userinfo_endpoint: `${issuer}/userinfo`,
  response_types_supported: ["code"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["ES256", "RS256", "HS256", "none"],
});

const bearerOf = ({ headers }: IncomingMessage) => (headers.authorization ?? "").replace(/^Bearer /, "");

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
