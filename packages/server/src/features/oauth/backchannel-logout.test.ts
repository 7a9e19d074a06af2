/** A person signs out; the applications that they used hear of it. Over real HTTP, from the sign-in to the message. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { deliverDueLogouts } from "../../core/backchannel-logout/delivery.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { codeSource } from "../../testing/fakes/code-source.ts";
import { type LogoutReceiver, startLogoutReceiver } from "../../testing/fakes/logout-receiver.ts";
import { refresh } from "../../testing/fixtures/client.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let receiver: LogoutReceiver;
  before(async () => {
    receiver = await startLogoutReceiver();
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), env });
    org = await makeOrganisation(running.service);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
    await receiver.close();
  });
  const toldClient = (path: string) =>
    makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      postLogoutRedirectUris: ["https://app.example/bye"],
      backchannelLogoutUri: receiver.uri(path),
    });
  const deliver = () => deliverDueLogouts({ ...running.service, baseUrl: running.baseUrl });

  test("RP-initiated logout tells every application of the session, with the sid of its ID tokens", async () => {
    const [one, two] = [await toldClient("/one"), await toldClient("/two")];
    await toldClient("/unused");
    const source = codeSource(org);
    const first = await source.tokens({}, one);
    const second = await source.tokens({}, two);
    await source.tokens({}, one);
    const goodbye = { id_token_hint: first.idToken, post_logout_redirect_uri: "https://app.example/bye" };
    const page = await source.browser.get(`${org.issuer}/end_session?${new URLSearchParams(goodbye)}`);
    assert.equal(page.location, "https://app.example/bye");
    await deliver();

    assert.deepEqual(receiver.received.map(({ path }) => path).sort(), ["/one", "/two"]);
    const keys = createRemoteJWKSet(new URL(`${org.issuer}/.well-known/jwks.json`));
    for (const [client, { idToken }, path] of [
      [one, first, "/one"],
      [two, second, "/two"],
    ] as const) {
      const token = receiver.at(path)[0]?.token ?? "";
      const { payload } = await jwtVerify(token, keys, {
        issuer: org.issuer,
        audience: client.application.id,
        typ: "logout+jwt",
      });
      const { sid, sub } = decodeJwt(idToken) as { sid?: string; sub?: string };
      assert.deepEqual([payload["sid"], payload.sub, payload["nonce"]], [sid, sub, undefined]);
    }
    assert.equal((await refresh(org, first.refreshToken, {}, one)).status, 400);
  });

  test("a logout token opens nothing: not as a bearer token, a hint, or a client's assertion", async () => {
    const client = await toldClient("/three");
    const source = codeSource(org);
    await source.tokens({}, client);
    const page = await source.browser.get(`${org.issuer}/end_session`);
    await source.browser.post(`${org.issuer}/end_session`, page.hidden);
    await deliver();
    const token = receiver.at("/three")[0]?.token ?? "";
    const userinfo = await fetch(`${org.issuer}/userinfo`, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(userinfo.status, 401);
    const again = codeSource(org);
    await again.code({}, client);
    const hint = { id_token_hint: token, post_logout_redirect_uri: "https://app.example/bye" };
    const asked = await again.browser.get(`${org.issuer}/end_session?${new URLSearchParams(hint)}`);
    assert.match(asked.body, /id="logout-confirm"/, "asks first, and goes nowhere");
  });

  test("without a sign-out there is nothing to tell, and a page that only asks tells nobody", async () => {
    const client = await toldClient("/four");
    const source = codeSource(org);
    await source.tokens({}, client);
    await source.browser.get(`${org.issuer}/end_session`);
    await deliver();
    assert.deepEqual(receiver.at("/four"), []);
  });
});
