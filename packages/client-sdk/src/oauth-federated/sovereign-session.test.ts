/** Tokens that the organisation's own agents sign: what the service could say by itself signs nobody in, and keeps nobody so. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { federatedFixture, principalIn, refusedWith } from "../testing/federated-fixture.ts";
import { testKey } from "../testing/signed-token.ts";
import { ISSUER } from "../testing/test-provider.ts";

const POOL = "0197aaaa-0000-7000-8000-0000000000b1";

async function pinnedFixture(changes = {}) {
  const agent = await testKey("agent-1");
  const fixture = await federatedFixture({ sovereignPublicKeys: [agent.jwk], ...changes });
  fixture.idTokenChanges = { key: agent, header: { kid: "agent-1" } };
  return { fixture, agent };
}

test("only the pinned key signs users in, whatever keys the service publishes", async () => {
  const { fixture } = await pinnedFixture();
  const browser = fixture.browser();
  await browser.signIn();
  principalIn(await browser.go("/"));
  fixture.idTokenChanges = {};
  const answer = await fixture.browser().signIn();
  assert.ok(
    ["token_key_unknown", "token_key_untrusted"].includes(codeOf(answer.result)),
    codeOf(answer.result),
  );
});

test("with a pool, responses and ID tokens name the pool's issuer", async () => {
  const { fixture, agent } = await pinnedFixture({ sovereignSigningPoolId: POOL });
  const issuer = `${ISSUER}/sovereign/pools/${POOL}`;
  const metadata = { ...fixture.provider.metadata, issuer };
  fixture.provider.answers.set(`/sovereign/pools/${POOL}/.well-known/openid-configuration`, () =>
    Response.json(metadata),
  );
  const sign = async (iss: string, claims: Record<string, unknown>) => {
    const browser = fixture.browser();
    const { location } = await browser.go("/");
    fixture.idTokenChanges = { key: agent, header: { kid: "agent-1" }, claims };
    return browser.go(browser.answerTo(new URL(location ?? ""), { iss }));
  };
  assert.equal((await sign(issuer, { iss: issuer })).status, 302);
  refusedWith(await sign(ISSUER, { iss: issuer }), "provider_answer");
  refusedWith(await sign(issuer, {}), "token_issuer");
});

test("a refresh without an agent's signature ends the session", async () => {
  for (const idToken of [async () => undefined, (own: () => Promise<string>) => own()]) {
    const { fixture } = await pinnedFixture();
    const browser = fixture.browser();
    await browser.signIn();
    fixture.onRefresh = async () =>
      Response.json({
        access_token: "at",
        token_type: "Bearer",
        expires_in: 3600,
        refresh_token: "rt-2",
        id_token: await idToken(() => fixture.provider.idToken()),
      });
    fixture.provider.advance(3590);
    assert.equal((await browser.go("/")).status, 302);
    assert.ok(!browser.cookies.has("__Host-signet-session"));
  }
});

const codeOf = (result: object): string => String((result as { error?: { code?: string } }).error?.code);
