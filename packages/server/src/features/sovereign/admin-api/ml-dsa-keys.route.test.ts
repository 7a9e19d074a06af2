/** ML-DSA keys of agents by API (RFC 9964): what such a key must be, and what it may not be taken for. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import {
  makePool,
  newAgentKey,
  presentedKey,
  signedWith,
  type TestAgentKey,
} from "../../../testing/fixtures/agent.ts";
import {
  type ApiAnswer,
  callApi,
  makeSystemAccount,
  type TestAccount,
} from "../../../testing/fixtures/system-account.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let admin: TestAccount;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    admin = await makeSystemAccount(running.service, org, { administrator: true });
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const present = (pool: SigningPool, key: TestAgentKey) => presentedKey(running.service, pool, key);
  const register = (pool: SigningPool, keys: readonly unknown[]) =>
    callApi(`${org.issuer}/sovereign/admin/agents`, admin, {
      body: { poolId: pool.id, name: "agent", keys },
    });
  const refused = (answer: ApiAnswer, status: number, error: string, description?: RegExp) => {
    assert.deepEqual([answer.status, answer.body["error"]], [status, error], answer.text);
    if (description) assert.match(String(answer.body["error_description"]), description);
  };

  test("rejects a key with its seed", async () => {
    const pool = await makePool(running.service, org, { algs: ["ML-DSA-44"] });
    const key = newAgentKey("ML-DSA-44");
    const seed = key.privateKey.export({ format: "jwk" });
    assert.ok("priv" in seed);
    refused(await register(pool, [{ jwk: seed, pop: "x" }]), 400, "private_key_material");
    const { jwk, pop } = present(pool, key);
    refused(await register(pool, [{ jwk: { ...jwk, priv: "" }, pop }]), 400, "private_key_material");
  });

  test("rejects keys of ML-DSA without alg, of another length, another set or another type", async () => {
    const pool = await makePool(running.service, org, { algs: ["ML-DSA-44", "ML-DSA-65", "ES256", "PS256"] });
    const key = newAgentKey("ML-DSA-65");
    const { jwk, pop } = present(pool, key);
    const sent = (changed: object) => register(pool, [{ jwk: changed, pop }]);
    const { alg: _alg, ...nameless } = jwk;
    const pub = Buffer.from(String(jwk["pub"]), "base64url");
    const spelled = (bytes: Uint8Array) => ({ ...jwk, pub: Buffer.from(bytes).toString("base64url") });
    refused(await sent(nameless), 400, "invalid_request", /alg is missing/);
    for (const bytes of [pub.subarray(1), pub.subarray(0, 1_312), Buffer.concat([pub, Buffer.of(0)]), []])
      refused(await sent(spelled(Buffer.from(bytes))), 400, "invalid_request", /1952 bytes/);
    refused(await sent({ ...jwk, pub: `${jwk["pub"]}=` }), 400, "invalid_request");
    refused(await sent({ ...jwk, pub: 1 }), 400, "invalid_request", /pub must be a string/);
    refused(await sent({ ...jwk, alg: "ML-DSA-44" }), 400, "invalid_request", /1312 bytes/);
    refused(await sent({ ...jwk, crv: "P-256" }), 400, "invalid_request", /crv/);
    for (const alg of ["ES256", "EdDSA", "PS256", "ml-dsa-65", 65])
      refused(await sent({ ...jwk, alg }), 422, "unsupported_alg", /AKP/);
    // Keys of other types that say they were of this one, and the other way round.
    for (const alg of ["ES256", "PS256"] as const) {
      const other = newAgentKey(alg).publicJwk;
      refused(await sent({ ...other, kty: "AKP" }), 422, "unsupported_alg");
      refused(await sent({ ...other, kty: "AKP", alg: "ML-DSA-65" }), 400, "invalid_request");
      refused(await sent({ ...other, alg: "ML-DSA-65" }), 422, "unsupported_alg", /does not fit/);
      refused(await sent({ ...other, pub: jwk["pub"] }), 400, "invalid_request", /pub/);
    }
    refused(await sent({ ...jwk, kty: "OKP" }), 400, "invalid_request");
    const large = newAgentKey("ML-DSA-87");
    refused(await register(pool, [present(pool, large)]), 422, "unsupported_alg", /the pool accepts/);
    // A proof by another set's key, under either name.
    const other = newAgentKey("ML-DSA-44");
    const foreign = present(pool, { ...other, kid: key.kid }).pop;
    refused(await register(pool, [{ jwk, pop: foreign }]), 422, "pop_invalid", /alg of the key/);
    const renamed = { alg: "ML-DSA-65", typ: "sovereign-pop+jwt" };
    const proof = `${encoded(renamed)}.${foreign.split(".")[1]}`;
    refused(await register(pool, [{ jwk, pop: signedWith(other, proof) }]), 422, "pop_invalid", /not signed/);
    assert.equal((await sent(jwk)).status, 201);
  });
});
