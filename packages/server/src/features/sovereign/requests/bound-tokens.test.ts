/** Tokens of a device that an agent signs: the binding is what the agent signs, and it holds as for the service's own. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { revokeDevice } from "../../../core/devices/revoke-device.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { codeSource } from "../../../testing/fakes/code-source.ts";
import { makeAgent, makePool, type TestAgent } from "../../../testing/fixtures/agent.ts";
import {
  type CertificateScene,
  certificateScene,
  clientCredentials,
  serviceSettings,
  signInSettings,
} from "../../../testing/fixtures/certificate-fixture.ts";
import type { EnrolledDevice } from "../../../testing/fixtures/enrolled-device.ts";
import { payloadOf } from "../../../testing/probes/answers.ts";
import type { MtlsClient } from "../../../testing/test-listeners.ts";
import { REDIRECT_URI } from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let scene: CertificateScene;
  let agent: TestAgent;
  let device: EnrolledDevice;
  let mine: MtlsClient;
  let bound: { signingPoolId: string; tlsClientCertificateBoundAccessTokens: true };
  before(async () => {
    scene = await certificateScene(await fresh());
    const { service } = scene.running;
    const pool = await makePool(service, scene.org);
    agent = await makeAgent(service, scene.org, pool);
    bound = { signingPoolId: pool.id, tlsClientCertificateBoundAccessTokens: true };
    device = await scene.device();
    mine = scene.client(device);
  });
  after(async () => {
    await scene.close();
    assert.deepEqual(scene.running.errors, []);
  });

  const served = async <T>(work: () => Promise<T>): Promise<T> => {
    const serving = agent.serve();
    return work().finally(() => serving.stop());
  };

  test("an agent signs certificate-bound client tokens, which end with the device", async () => {
    const { application } = await scene.application({ ...serviceSettings, ...bound });
    const { id } = application;
    const { status, body } = await served(() => scene.post(mine, "token", clientCredentials(application)));
    assert.equal(status, 200, JSON.stringify(body));
    const claims = payloadOf(body["access_token"]);
    assert.deepEqual(claims["cnf"], { "x5t#S256": device.thumbprint });
    assert.deepEqual([claims["device_id"], claims["device_attestation"]], [device.id, "none"]);
    const other = await scene.device();
    const asks = scene.client(other);
    const form = { client_id: id, token: String(body["access_token"]) };
    assert.deepEqual((await scene.post(asks, "introspect", form)).body["cnf"], claims["cnf"]);
    const { orgId } = device;
    const lost = { orgId, deviceId: device.id, reason: "keyCompromise", actor: "test" } as const;
    await revokeDevice(scene.running.service, lost);
    assert.deepEqual((await scene.post(asks, "introspect", form)).body, { active: false });
  });

  test("an agent signs certificate-bound user tokens", async () => {
    const phone = await scene.device();
    const by = scene.client(phone);
    const settings = { ...signInSettings, ...bound, tokenEndpointAuthMethod: "none" } as const;
    const client = await scene.application(settings, "public");
    const answer = await served(async () => {
      const { code, verifier } = await codeSource(scene.org).code({}, client);
      return scene.post(by, "token", {
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
    assert.equal((await userinfo(scene.client(await scene.device()))).status, 401);
  });
});
