/** Tokens that an agent has signed are released in the transaction that consumes the grant. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parseForm } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { Application } from "../../../core/applications/application.ts";
import type { PoolSigning } from "../../../core/tokens/pool-signing.ts";
import { refreshTokenKeys } from "../../../modules/open-service.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type CodeSource, codeSource, redeemWith } from "../../../testing/fakes/code-source.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { refresh } from "../../../testing/fixtures/client.ts";
import { askForCodes, decideDeviceCode, makeDeviceApp, poll } from "../../../testing/fixtures/device.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";
import { authorizationCodeGrant } from "./authorization-code.ts";
import { deviceCodeGrant } from "./device-code.ts";
import type { Grant } from "./grant.ts";
import { refreshTokenGrant } from "./refresh-token.ts";

/** No test here needs a pool: the devices are approved without an agent. */
const noPools: PoolSigning = {
  begin: () => assert.fail(),
  waitFor: () => assert.fail(),
  takeContinuation: () => assert.fail(),
  keepUntil: () => assert.fail(),
  waitMs: () => assert.fail(),
  sign: () => assert.fail(),
  signMessage: () => assert.fail(),
  signedResponse: () => assert.fail(),
};

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let source: CodeSource;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    source = codeSource(org);
  });
  after(() => running.close());
  const deps = () => ({
    ...running.service,
    baseUrl: running.baseUrl,
    refreshTokenKeys: refreshTokenKeys(running.service.masterKeys),
    poolSigning: noPools,
  });
  /** Validates the grant, and consumes it with a release that fails. */
  const failing = async (grant: Grant, application: Application, form: Record<string, string>) => {
    const request = {
      organisation: org.organisation,
      application,
      form: parseForm(new URLSearchParams(form).toString()),
      now: running.service.clock(),
      deviceId: null,
      dpopJkt: null,
      certificateThumbprint: null,
      address: "127.0.0.1",
    };
    const basis = await grant.validate(request);
    let released = 0;
    const release = async () => {
      released++;
      throw new OAuthError("temporarily_unavailable", "already released");
    };
    await assert.rejects(grant.consume(request, basis, { release }), /already released/);
    assert.equal(released, 1);
  };

  test("does not redeem an authorization code whose tokens could not be released", async () => {
    const { code, verifier } = await source.code();
    await failing(authorizationCodeGrant(deps()), org.web.application, { code, code_verifier: verifier });
    assert.equal((await redeemWith(org, { code, verifier })).status, 200);
  });

  test("does not rotate a refresh token whose tokens could not be released", async () => {
    const { refreshToken } = await source.tokens();
    await failing(refreshTokenGrant(deps()), org.web.application, { refresh_token: refreshToken });
    assert.equal((await refresh(org, refreshToken)).status, 200);
  });

  test("does not redeem a device code whose tokens could not be released", async () => {
    const tv = await makeDeviceApp(running.service, org);
    const codes = await askForCodes(org, tv);
    await decideDeviceCode(source.browser, org, codes);
    await failing(deviceCodeGrant(deps()), tv, { device_code: codes.deviceCode });
    assert.equal((await poll(org, codes)).status, 200);
  });
});
