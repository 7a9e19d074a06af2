/** An OpenID provider as a conformance test sees it: one organisation over HTTP, tokens verified by `jose`. */
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from "jose";
import { forEachDatabase } from "../databases.ts";
import { sendRaw } from "../probes/answers.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../test-service.ts";
import { type CodeSource, codeSource } from "./code-source.ts";
import { type FakeClock, fakeClock } from "./fake-clock.ts";
import { quickPasswords } from "./quick-passwords.ts";

export interface Provider {
  readonly running: TestService;
  readonly org: TestOrganisation;
  readonly clock: FakeClock;
  /** A browser that stays signed in. */
  readonly source: CodeSource;
}

/**
 * Declares the tests once for each database.
 * @param declare gets the provider by a call, since it runs only while tests do
 * @param env settings of the service
 */
export function forEachProvider(
  declare: (provider: () => Provider) => void,
  env: Readonly<Record<string, string>> = {},
): void {
  forEachDatabase(({ fresh }) => {
    let provider: Provider | undefined;
    before(async () => {
      const clock = fakeClock();
      const databaseUrl = await fresh();
      const running = await startTestService({ databaseUrl, clock, passwords: quickPasswords, env });
      const org = await makeOrganisation(running.service);
      provider = { running, org, clock, source: codeSource(org) };
    });
    after(async () => {
      await provider?.running.close();
      assert.deepEqual(provider?.running.errors, []);
    });
    declare(() => {
      assert.ok(provider, "the provider runs");
      return provider;
    });
  });
}

/** Fetches the discovery document. */
export async function metadataOf({ org }: Provider): Promise<Record<string, unknown>> {
  const { status, body } = await sendRaw(`${org.issuer}/.well-known/openid-configuration`, {});
  assert.equal(status, 200);
  return body;
}

/**
 * The claims of an ID token, validated from the issuer alone (OpenID Connect Core §3.1.3.7).
 * @throws JOSEError when the token is invalid
 */
export async function verifiedIdToken(
  provider: Provider,
  idToken: string,
  client = provider.org.web,
): Promise<JWTPayload> {
  const { issuer, jwks_uri: jwksUri } = await metadataOf(provider);
  const { payload } = await jwtVerify(idToken, createRemoteJWKSet(new URL(String(jwksUri))), {
    issuer: String(issuer),
    audience: client.application.id,
    requiredClaims: ["sub", "iat", "exp"],
    currentDate: new Date(provider.clock()),
  });
  return payload;
}
