/** Tokens that the organisation's own agents sign: what the service could say by itself signs nobody in, and keeps nobody so. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { federatedScene, principalIn, refusedWith } from "../testing/federated-scene.ts";
import { ISSUER } from "../testing/hostile-provider.ts";
import { testKey } from "../testing/signed-token.ts";

const POOL = "0197aaaa-0000-7000-8000-0000000000b1";

async function pinnedScene(changes = {}) {
  const agent = await testKey("agent-1");
  const scene = await federatedScene({ sovereignPublicKeys: [agent.jwk], ...changes });
  scene.idTokenChanges = { key: agent, header: { kid: "agent-1" } };
  return { scene, agent };
}

test("the pinned key alone signs people in, whatever keys the service publishes", async () => {
  const { scene } = await pinnedScene();
  const browser = scene.browser();
  await browser.signIn();
  principalIn(await browser.go("/"));
  scene.idTokenChanges = {};
  const answer = await scene.browser().signIn();
  assert.ok(
    ["token_key_unknown", "token_key_untrusted"].includes(codeOf(answer.result)),
    codeOf(answer.result),
  );
});

test("with a pool, answers and ID tokens name the pool's issuer", async () => {
  const { scene, agent } = await pinnedScene({ sovereignSigningPoolId: POOL });
  const issuer = `${ISSUER}/sovereign/pools/${POOL}`;
  const metadata = { ...scene.provider.metadata, issuer };
  scene.provider.answers.set(`/sovereign/pools/${POOL}/.well-known/openid-configuration`, () =>
    Response.json(metadata),
  );
  const sign = async (iss: string, claims: Record<string, unknown>) => {
    const browser = scene.browser();
    const { location } = await browser.go("/");
    scene.idTokenChanges = { key: agent, header: { kid: "agent-1" }, claims };
    return browser.go(browser.answerTo(new URL(location ?? ""), { iss }));
  };
  assert.equal((await sign(issuer, { iss: issuer })).status, 302);
  refusedWith(await sign(ISSUER, { iss: issuer }), "provider_answer");
  refusedWith(await sign(issuer, {}), "token_issuer");
});

test("a refresh that no agent has signed ends the session: none, or one of the service's own", async () => {
  for (const idToken of [async () => undefined, (own: () => Promise<string>) => own()]) {
    const { scene } = await pinnedScene();
    const browser = scene.browser();
    await browser.signIn();
    scene.onRefresh = async () =>
      Response.json({
        access_token: "at",
        token_type: "Bearer",
        expires_in: 3600,
        refresh_token: "rt-2",
        id_token: await idToken(() => scene.provider.idToken()),
      });
    scene.provider.advance(3590);
    assert.equal((await browser.go("/")).status, 302);
    assert.ok(!browser.cookies.has("__Host-signet-session"));
  }
});

const codeOf = (result: object): string => String((result as { error?: { code?: string } }).error?.code);
