/** Tokens of a device that an agent signs: the binding is what the agent signs, and it holds as for the service's own. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { revokeDevice } from "../../../core/devices/revoke-device.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { codeSource } from "../../../testing/fakes/code-source.ts";
import { makeAgent, makePool, type TestAgent } from "../../../testing/fixtures/agent.ts";
import {
  type CertificateFixture,
  certificateFixture,
  clientCredentials,
  serviceSettings,
  signInSettings,
} from "../../../testing/fixtures/certificate-fixture.ts";
import type { EnrolledDevice } from "../../../testing/fixtures/enrolled-device.ts";
import { payloadOf } from "../../../testing/probes/answers.ts";
import type { MtlsClient } from "../../../testing/test-listeners.ts";
import { REDIRECT_URI } from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let fixture: CertificateFixture;
  let agent: TestAgent;
  let device: EnrolledDevice;
  let mine: MtlsClient;
  let bound: { signingPoolId: string; tlsClientCertificateBoundAccessTokens: true };
  before(async () => {
    fixture = await certificateFixture(await fresh());
    const { service } = fixture.running;
    const pool = await makePool(service, fixture.org);
    agent = await makeAgent(service, fixture.org, pool);
    bound = { signingPoolId: pool.id, tlsClientCertificateBoundAccessTokens: true };
    device = await fixture.device();
    mine = fixture.client(device);
  });
  after(async () => {
    await fixture.close();
    assert.deepEqual(fixture.running.errors, []);
  });

  const served = async <T>(work: () => Promise<T>): Promise<T> => {
    const serving = agent.serve();
    return work().finally(() => serving.stop());
  };

  test("an agent signs certificate-bound client tokens, which end with the device", async () => {
    const { application } = await fixture.application({ ...serviceSettings, ...bound });
    const { id } = application;
    const { status, body } = await served(() => fixture.post(mine, "token", clientCredentials(application)));
    assert.equal(status, 200, JSON.stringify(body));
    const claims = payloadOf(body["access_token"]);
    assert.deepEqual(claims["cnf"], { "x5t#S256": device.thumbprint });
    assert.deepEqual([claims["device_id"], claims["device_attestation"]], [device.id, "none"]);
    const other = await fixture.device();
    const asks = fixture.client(other);
    const form = { client_id: id, token: String(body["access_token"]) };
    assert.deepEqual((await fixture.post(asks, "introspect", form)).body["cnf"], claims["cnf"]);
    const { orgId } = device;
    const lost = { orgId, deviceId: device.id, reason: "keyCompromise", actor: "test" } as const;
    await revokeDevice(fixture.running.service, lost);
    assert.deepEqual((await fixture.post(asks, "introspect", form)).body, { active: false });
  });

  test("an agent signs certificate-bound user tokens", async () => {
    const phone = await fixture.device();
    const by = fixture.client(phone);
    const settings = { ...signInSettings, ...bound, tokenEndpointAuthMethod: "none" } as const;
    const client = await fixture.application(settings, "public");
    const answer = await served(async () => {
      const { code, verifier } = await codeSource(fixture.org).code({}, client);
      return fixture.post(by, "token", {
        ...{ grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: REDIRECT_URI },
        client_id: client.application.id,
      });
    });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const accessToken = String(answer.body["access_token"]);
    assert.deepEqual(payloadOf(accessToken)["cnf"], { "x5t#S256": phone.thumbprint });
    const userinfo = (with_: MtlsClient) =>
      with_.get(`/oauth/${phone.orgId}/userinfo`, { authorization: `Bearer ${accessToken}` });
    assert.equal((await userinfo(by)).status, 200);
    assert.equal((await userinfo(fixture.client(await fixture.device()))).status, 401);
  });
});
