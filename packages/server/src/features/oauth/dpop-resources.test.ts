/** Tokens of a key at the routes that answer by themselves (RFC 9449 §7): signals, and a ledger for members. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { changeOrganisationSettings } from "../../core/organisations/organisations.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { credentials, postForm } from "../../testing/fixtures/client.ts";
import { type DpopKey, dpopKey } from "../../testing/fixtures/dpop.ts";
import { sendRaw } from "../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let key: DpopKey;
  let other: DpopKey;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    [key, other] = [await dpopKey(), await dpopKey()];
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  test("the transmitter of signals and a ledger of members take a bound token with its proof, once", async () => {
    const orgId = org.organisation.id;
    const members = { ledger: "members" } as const;
    await changeOrganisationSettings(running.service, { orgId, actor: "test", settings: members });
    const receiver = await makeClient(running.service, org.organisation, {
      ...{ grantTypes: ["client_credentials"], allowedScopes: ["ssf.read"], requireDpopNonce: true },
    });
    const nonce = running.service.dpopNonces.current(orgId);
    const tokenUrl = `${org.issuer}/token`;
    const form = { grant_type: "client_credentials", ...credentials(receiver) };
    const proof = await key.proof({ url: tokenUrl, now: clock(), nonce });
    const bound = await postForm(tokenUrl, form, { dpop: proof });
    assert.equal(bound.body["token_type"], "DPoP", JSON.stringify(bound.body));
    const token = String(bound.body["access_token"]);
    for (const path of [`/oauth/${orgId}/ssf/streams`, `/ledger/${orgId}/checkpoint`]) {
      const url = `${running.baseUrl}${path}`;
      const ask = (authorization: string, dpop?: string) =>
        sendRaw(url, { headers: { authorization, ...(dpop === undefined ? {} : { dpop }) } });
      const refuses = async (answer: Awaited<ReturnType<typeof ask>>, error: string) => {
        assert.equal(answer.status, 401, path);
        const challenge = String(answer.headers.get("www-authenticate"));
        assert.match(challenge, new RegExp(`^DPoP .*error="${error}".*algs="ES256 `), path);
        assert.equal(answer.headers.get("dpop-nonce"), running.service.dpopNonces.current(orgId));
      };
      const target = { url, method: "GET", token, now: clock() };
      await refuses(await ask(`Bearer ${token}`, await key.proof({ ...target, nonce })), "invalid_token");
      await refuses(await ask(`DPoP ${token}`), "invalid_dpop_proof");
      await refuses(await ask(`DPoP ${token}`, await key.proof(target)), "use_dpop_nonce");
      await refuses(await ask(`DPoP ${token}`, await other.proof({ ...target, nonce })), "invalid_token");
      const good = await key.proof({ ...target, nonce });
      const answer = await ask(`DPoP ${token}`, good);
      // A ledger without entries has no checkpoint yet.
      assert.ok(answer.status === 200 || (path.startsWith("/ledger") && answer.status === 404), path);
      assert.equal(answer.headers.get("dpop-nonce"), nonce);
      await refuses(await ask(`DPoP ${token}`, good), "invalid_dpop_proof");
    }
  });
});
