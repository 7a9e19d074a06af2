/** Tokens that were signed elsewhere are handed out with what consumes the grant, or neither happens. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parseForm } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { Application } from "../../../core/applications/application.ts";
import type { PoolSigning } from "../../../core/tokens/pool-signing.ts";
import { refreshTokenKey } from "../../../modules/open-service.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type CodeSource, codeSource, redeemWith } from "../../../testing/fakes/code-source.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { refresh } from "../../../testing/fixtures/client.ts";
import { askForCodes, letIn, makeDeviceApp, poll } from "../../../testing/fixtures/device.ts";
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

/** Asked by none of these: the devices were allowed without an agent. */
const noPools: PoolSigning = {
  issuer: () => assert.fail(),
  begin: () => assert.fail(),
  waitFor: () => assert.fail(),
  takeContinuation: () => assert.fail(),
  keepUntil: () => assert.fail(),
  waitMs: () => assert.fail(),
  sign: () => assert.fail(),
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
    refreshTokenKey: refreshTokenKey(running.service.masterKey),
    poolSigning: noPools,
  });
  /** Reads the grant, and consumes it with a release that comes to nothing. */
  const failing = async (grant: Grant, application: Application, form: Record<string, string>) => {
    const read = await grant.read({
      organisation: org.organisation,
      application,
      form: parseForm(new URLSearchParams(form).toString()),
      issuer: org.issuer,
      now: running.service.clock(),
      deviceId: null,
      address: "127.0.0.1",
    });
    let released = 0;
    const release = async () => {
      released++;
      throw new OAuthError("temporarily_unavailable", "somebody else has them");
    };
    await assert.rejects(read.commit(release), /somebody else/);
    assert.equal(released, 1, "it was asked for");
  };

  test("a code that came to nothing is not used", async () => {
    const { code, verifier } = await source.code();
    await failing(authorizationCodeGrant(deps()), org.web.application, { code, code_verifier: verifier });
    assert.equal((await redeemWith(org, { code, verifier })).status, 200);
  });

  test("a refresh token that came to nothing is not rotated", async () => {
    const { refreshToken } = await source.tokens();
    await failing(refreshTokenGrant(deps()), org.web.application, { refresh_token: refreshToken });
    assert.equal((await refresh(org, refreshToken)).status, 200);
  });

  test("nor is a device code", async () => {
    const tv = await makeDeviceApp(running.service, org);
    const codes = await askForCodes(org, tv);
    await letIn(source.browser, org, codes);
    await failing(deviceCodeGrant(deps()), tv, { device_code: codes.deviceCode });
    assert.equal((await poll(org, codes)).status, 200);
  });
});
