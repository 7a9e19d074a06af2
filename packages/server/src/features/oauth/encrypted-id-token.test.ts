/** Encrypted ID tokens (OpenID Connect Core §10.2): to whom, from whom, and what is lost without a key. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type CryptoKey, compactDecrypt, exportJWK, generateKeyPair, type JWK } from "jose";
import type { ApplicationSettings } from "../../core/applications/application.ts";
import { InvalidApplication } from "../../core/applications/validation.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { testBrowser } from "../../testing/fakes/browser.ts";
import { getCode, getTokens, redeem, refresh } from "../../testing/fixtures/client.ts";
import { requestKey } from "../../testing/fixtures/request-object.ts";
import { answerOf, tokensOf, visit } from "../../testing/fixtures/visit.ts";
import { assertOAuthError, payloadOf } from "../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

interface Key {
  readonly alg: "RSA-OAEP-256" | "ECDH-ES";
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

const newKey = async (alg: Key["alg"], crv?: string): Promise<Key> => {
  const { privateKey, publicKey } = await generateKeyPair(alg, crv === undefined ? {} : { crv });
  return { alg, privateKey, jwk: { ...(await exportJWK(publicKey)), use: "enc", kid: `enc-${crv ?? alg}` } };
};

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let rsa: Key;
  let ec: Key;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    [rsa, ec] = [await newKey("RSA-OAEP-256"), await newKey("ECDH-ES", "P-256")];
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const clientWith = (settings: Partial<ApplicationSettings>) =>
    makeClient(running.service, org.organisation, { redirectUris: [REDIRECT_URI], ...settings });
  const encrypting = ({ alg, jwk }: Key, others: readonly JWK[] = []) =>
    clientWith({ idTokenEncryptedResponseAlg: alg, jwks: { keys: [jwk, ...others] as never } });

  async function decrypted(token: string, { privateKey }: Key) {
    const { plaintext, protectedHeader } = await compactDecrypt(token, privateKey);
    return { inner: new TextDecoder().decode(plaintext), header: protectedHeader };
  }

  test("each kind of key: a signed JWT inside, which says so, at the code and at each refresh", async () => {
    for (const key of [rsa, ec, await newKey("ECDH-ES", "X25519"), await newKey("ECDH-ES", "P-384")]) {
      const client = await encrypting(key);
      const first = await getTokens(org, { nonce: "n" }, client);
      const again = await refresh(org, first.refreshToken, {}, client);
      for (const token of [first.idToken, String(again.body["id_token"])]) {
        const { inner, header } = await decrypted(token, key);
        const { epk, ...others } = header as { epk?: unknown };
        assert.deepEqual(others, { alg: key.alg, enc: "A256GCM", cty: "JWT", kid: key.jwk.kid });
        assert.equal(epk !== undefined, key.alg === "ECDH-ES");
        const claims = payloadOf(inner);
        assert.deepEqual([claims["aud"], claims["sub"]], [client.application.id, org.user.id]);
        assert.doesNotMatch(token, new RegExp(inner.split(".")[1] ?? "x"));
      }
      assert.equal(payloadOf(first.accessToken)["client_id"], client.application.id, "it is as ever");
    }
  });

  test("the key for encryption is chosen among others, by use, kind and algorithm", async () => {
    const signing = await requestKey();
    const other = { ...(await newKey("RSA-OAEP-256")).jwk, kid: "other", alg: "RSA-OAEP-256" };
    const client = await encrypting(ec, [{ ...signing.jwk, kid: "signing" } as JWK, other]);
    const { idToken } = await getTokens(org, {}, client);
    assert.equal((await decrypted(idToken, ec)).header.kid, ec.jwk.kid);
  });

  test("a key for encryption signs nothing", async () => {
    const { alg: _, ...unnamed } = (await requestKey()).jwk as JWK;
    const { application } = await clientWith({
      jwks: { keys: [{ ...unnamed, use: "enc", kid: "k" }] as never },
    });
    const lookup = running.service.clientKeys.lookup(application);
    await assert.rejects(Promise.resolve(lookup({ alg: "ES256", kid: "k" }, {} as never)), {
      code: "ERR_JWKS_NO_MATCHING_KEY",
    });
  });

  test("settings without a key that fits are a fault, by its name", async () => {
    const signing = await requestKey();
    const isFault = (error: unknown) =>
      error instanceof InvalidApplication &&
      error.faults.some(({ path }) => path === "idTokenEncryptedResponseAlg");
    for (const settings of [
      {},
      { jwks: { keys: [{ ...signing.jwk }] as never } },
      { jwks: { keys: [ec.jwk] as never } },
      { jwks: { keys: [{ ...rsa.jwk, use: "sig" }] as never } },
    ])
      await assert.rejects(clientWith({ idTokenEncryptedResponseAlg: "RSA-OAEP-256", ...settings }), isFault);
    for (const alg of ["RSA1_5", "RSA-OAEP", "dir", "none"])
      await assert.rejects(
        clientWith({ idTokenEncryptedResponseAlg: alg as never, jwks: { keys: [rsa.jwk] as never } }),
        isFault,
      );
    const { d, ...mine } = await exportJWK(
      (await generateKeyPair("RS256", { extractable: true })).privateKey,
    );
    await assert.rejects(clientWith({ jwks: { keys: [{ ...mine, d, use: "enc" }] as never } }));
  });

  test("without a key at the client's jwks_uri the request fails, and the code is still good", async () => {
    const settings = {
      idTokenEncryptedResponseAlg: "ECDH-ES",
      jwksUri: "https://keys.example/jwks",
    } as const;
    const client = await clientWith(settings);
    const code = await getCode(org, {}, client);
    assertOAuthError(await redeem(org, code, client), 400, "invalid_request");
    const { clientKeys } = running.service;
    const served: JWK[] = [];
    const lookUp = clientKeys.encryptionKey;
    Object.assign(clientKeys, { encryptionKey: async () => served[0] });
    try {
      assertOAuthError(await redeem(org, code, client), 400, "invalid_request");
      served.push(ec.jwk);
      const { status, body } = await redeem(org, code, client);
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal((await decrypted(String(body["id_token"]), ec)).header.kid, ec.jwk.kid);
    } finally {
      Object.assign(clientKeys, { encryptionKey: lookUp });
    }
  });

  test("as a hint, the token inside is good and the encrypted one is none", async () => {
    const client = await encrypting(rsa);
    const browser = testBrowser();
    await tokensOf(browser, org);
    const { idToken } = await getTokens(org, {}, client);
    const { inner } = await decrypted(idToken, rsa);
    const asked = (hint: string) => ({ more: { prompt: "none", id_token_hint: hint } });
    assert.notEqual(answerOf(await visit(browser, org, asked(inner))).get("code"), null);
    assert.equal(answerOf(await visit(browser, org, asked(idToken))).get("error"), "login_required");
  });

  test("discovery names the algorithms", async () => {
    const metadata = (await (await fetch(`${org.issuer}/.well-known/openid-configuration`)).json()) as object;
    const named = Object.entries(metadata).filter(([name]) => name.startsWith("id_token_encryption"));
    assert.deepEqual(Object.fromEntries(named), {
      id_token_encryption_alg_values_supported: ["RSA-OAEP-256", "ECDH-ES"],
      id_token_encryption_enc_values_supported: ["A256GCM"],
    });
  });
});
