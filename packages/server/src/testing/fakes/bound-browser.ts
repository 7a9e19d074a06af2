/**
 * A browser with Device Bound Session Credentials, its key in software: registers a key where it is offered, and refreshes the
 * cookie before a request that would go without. No test has a browser that does so itself (docs/security.md).
 */
import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { type JWTHeaderParameters, SignJWT } from "jose";
import { type TestBrowser, type TestPage, testBrowser } from "./browser.ts";

export interface BoundBrowser extends TestBrowser {
  /** Of the last registration. */
  readonly binding: Binding | undefined;
  /** The answer of the last refresh, or of the registration. */
  readonly answers: readonly TestPage[];
  refresh(): Promise<TestPage>;
}

export interface Binding {
  readonly sessionId: string;
  readonly refreshUrl: string;
  readonly cookie: string;
  readonly instructions: Readonly<Record<string, unknown>>;
  readonly key: KeyObject;
  challenge: string | undefined;
}

export interface BrowserKey {
  readonly alg: "ES256" | "RS256";
  readonly privateKey: KeyObject;
}

export const ecKey = (): BrowserKey => ({
  alg: "ES256",
  privateKey: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey,
});

/** The proof of a key, as JWT (DBSC §9.10). @param withKey for a registration */
export function bindingProof(
  { alg, privateKey }: BrowserKey,
  challenge: string,
  { withKey = false, header = {} }: { withKey?: boolean; header?: Partial<JWTHeaderParameters> } = {},
): Promise<string> {
  const jwk = withKey ? { jwk: createPublicKey(privateKey).export({ format: "jwk" }) } : {};
  return new SignJWT({ jti: challenge })
    .setProtectedHeader({ typ: "dbsc+jwt", alg, ...jwk, ...header })
    .sign(privateKey);
}

/** What an answer offers: where to register, and over which challenge. */
export function offerOf({ headers, url }: Pick<TestPage, "headers" | "url">) {
  const text = headers.get("secure-session-registration");
  const [, algorithms = "", path = "", challenge = ""] =
    /^\(([^)]*)\);path="([^"]+)";challenge="([^"]+)"$/.exec(text ?? "") ?? [];
  return text === null ? undefined : { algorithms, url: new URL(path, url).href, challenge };
}

export const challengeOf = ({ headers }: Pick<TestPage, "headers">): string | undefined =>
  /^"([^"]+)";id="[^"]+"$/.exec(headers.get("secure-session-challenge") ?? "")?.[1];

export function boundBrowser(key = ecKey(), inner: TestBrowser = testBrowser()): BoundBrowser {
  let binding: Binding | undefined;
  const answers: TestPage[] = [];

  async function register(page: TestPage): Promise<void> {
    const offer = offerOf(page);
    if (!offer?.algorithms.split(" ").includes(key.alg)) return;
    const proof = await bindingProof(key, offer.challenge, { withKey: true });
    const answer = await inner.post(offer.url, {}, { "secure-session-response": `"${proof}"` });
    answers.push(answer);
    if (answer.status !== 200) return;
    const instructions = JSON.parse(answer.body);
    binding = {
      sessionId: instructions.session_identifier,
      refreshUrl: new URL(instructions.refresh_url, offer.url).href,
      cookie: instructions.credentials[0].name,
      ...{ instructions, key: key.privateKey, challenge: challengeOf(answer) },
    };
  }

  async function refresh(): Promise<TestPage> {
    const bound = binding;
    if (!bound) throw new Error("nothing is bound");
    const ask = async () =>
      inner.post(
        bound.refreshUrl,
        {},
        {
          "sec-secure-session-id": `"${bound.sessionId}"`,
          ...(bound.challenge && {
            "secure-session-response": `"${await bindingProof(key, bound.challenge)}"`,
          }),
        },
      );
    let answer = await ask();
    bound.challenge = challengeOf(answer);
    if (answer.status === 403 && bound.challenge !== undefined) {
      answer = await ask();
      bound.challenge = challengeOf(answer);
    }
    answers.push(answer);
    if (answer.status >= 400 || JSON.parse(answer.body).continue === false) binding = undefined;
    return answer;
  }

  async function send(request: () => Promise<TestPage>): Promise<TestPage> {
    if (binding && !inner.cookies.has(binding.cookie)) await refresh();
    const page = await request();
    await register(page);
    return page;
  }
  return {
    cookies: inner.cookies,
    get binding() {
      return binding;
    },
    answers,
    refresh,
    get: (url, headers) => send(() => inner.get(url, headers)),
    post: (url, form, headers) => send(() => inner.post(url, form, headers)),
  };
}
