/** What must never come out as a token: each forgery by name, and after it the request still takes the right one. */
import assert from "node:assert/strict";
import { createHmac, createPublicKey, sign } from "node:crypto";
import { test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { signingFixture } from "../../../testing/fixtures/signing-fixture.ts";
import type { SoftAgent } from "../../../testing/fixtures/signing-harness.ts";
import { SECOND } from "../../../testing/fixtures/signing-steps.ts";
import type { ClaimedRequest } from "./claim-request.ts";
import { type SignOutcome, signRequest } from "./sign-request.ts";

const ANOTHER_ORG = "0197b0a0-0000-7000-8000-000000000000";
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const invalid = (reason: string) => ({ outcome: "invalid_signed_jwt", reason });

forEachDatabase(({ fresh }) => {
  const { clock, harness, agent, other, steps } = signingFixture(fresh);

  /** What was handed out, in its parts. */
  function partsOf(held: ClaimedRequest) {
    const [token] = held.tokens;
    assert.ok(token);
    const header = JSON.parse(Buffer.from(token.protected, "base64url").toString()) as object;
    const input = `${token.protected}.${token.payload}`;
    const [, , signature = ""] = agent.signed(held.tokens).access_token.split(".");
    return { token, header, input, signature };
  }
  const publicPem = () => createPublicKey(agent.privateKey).export({ type: "spki", format: "pem" });

  const forgeries: Record<string, (held: ClaimedRequest) => [jwt: unknown, reason: string]> = {
    "an altered byte of the payload": (held) => {
      const { token, signature } = partsOf(held);
      const at = token.payload.length >> 1;
      const changed = token.payload[at] === "A" ? "B" : "A";
      const payload = token.payload.slice(0, at) + changed + token.payload.slice(at + 1);
      return [`${token.protected}.${payload}.${signature}`, "bytes_mismatch"];
    },
    "an altered byte of the signature": (held) => {
      const { input, signature } = partsOf(held);
      const bytes = Buffer.from(signature, "base64url");
      bytes[7] = (bytes[7] ?? 0) ^ 1;
      return [`${input}.${bytes.toString("base64url")}`, "bad_signature"];
    },
    "alg none, without a signature": (held) => {
      const { token, header } = partsOf(held);
      return [`${encoded({ ...header, alg: "none" })}.${token.payload}.`, "bad_encoding"];
    },
    "alg none, with the signature of the right bytes": (held) => {
      const { token, header, signature } = partsOf(held);
      return [`${encoded({ ...header, alg: "none" })}.${token.payload}.${signature}`, "bytes_mismatch"];
    },
    "HS256 with the public key as the secret": (held) => {
      const { token, header } = partsOf(held);
      const input = `${encoded({ ...header, alg: "HS256" })}.${token.payload}`;
      return [
        `${input}.${createHmac("sha256", publicPem()).update(input).digest("base64url")}`,
        "bytes_mismatch",
      ];
    },
    "an HMAC by the public key under the right header": (held) => {
      const { input } = partsOf(held);
      return [
        `${input}.${createHmac("sha256", publicPem()).update(input).digest("base64url")}`,
        "bad_signature",
      ];
    },
    "another agent's kid, signed by that agent": (held) => {
      const { token, header } = partsOf(held);
      const foreign = { ...token, protected: encoded({ ...header, kid: other.kid }) };
      return [other.signed([foreign]).access_token, "bytes_mismatch"];
    },
    "another agent's signature": (held) => [other.signed(held.tokens).access_token, "bad_signature"],
    "a DER signature": (held) => {
      const { input } = partsOf(held);
      const der = sign("sha256", Buffer.from(input), { key: agent.privateKey, dsaEncoding: "der" });
      return [`${input}.${der.toString("base64url")}`, "bad_signature"];
    },
    "another spelling of the same signature": (held) => {
      const { input, signature } = partsOf(held);
      const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
      // 64 bytes leave four bits of the last character unused.
      const last = alphabet[alphabet.indexOf(signature.at(-1) ?? "") + 1] ?? "";
      const spelled = signature.slice(0, -1) + last;
      assert.deepEqual(Buffer.from(spelled, "base64url"), Buffer.from(signature, "base64url"));
      return [`${input}.${spelled}`, "bad_encoding"];
    },
    "padding after the signature": (held) => {
      const { input, signature } = partsOf(held);
      return [`${input}.${signature}==`, "bad_encoding"];
    },
    "a fourth part": (held) => [`${agent.signed(held.tokens).access_token}.x`, "bad_encoding"],
    nothing: () => [undefined, "missing_token"],
  };

  for (const [name, forge] of Object.entries(forgeries))
    test(`rejects a forged token: ${name}`, async () => {
      const held = await steps.claimed(await steps.create());
      const [access_token, reason] = forge(held);
      const jwts = access_token === undefined ? {} : { access_token };
      assert.deepEqual(await signRequest(harness.signing, agent.caller, { ...held, jwts }), invalid(reason));
      assert.equal((await steps.stateOf(held.requestId))?.[0], "claimed");
      assert.equal(await steps.release(held.requestId), undefined);
      assert.equal((await steps.sign(held)).outcome, "signed");
    });

  test("rejects tokens signed for another request", async () => {
    const first = await steps.claimed(await steps.create());
    const second = await steps.claimed(await steps.create());
    const jwts = agent.signed(first.tokens);
    assert.equal((await steps.sign(first)).outcome, "signed");
    assert.deepEqual(
      await signRequest(harness.signing, agent.caller, { ...second, jwts }),
      invalid("bytes_mismatch"),
    );
  });

  test("rejects a signature without the lease: same pool, other pool, other organisation", async () => {
    const held = await steps.claimed(await steps.create());
    const jwts = agent.signed(held.tokens);
    const stranger = await harness.addAgent({ pool: await harness.addPool() });
    const outcomeOf = async (sent: Promise<SignOutcome>) => (await sent).outcome;
    const by = (caller: SoftAgent["caller"]) =>
      outcomeOf(signRequest(harness.signing, caller, { ...held, jwts }));
    assert.equal(await by(other.caller), "lease_lost");
    assert.equal(await by(stranger.caller), "not_found");
    assert.equal(await by({ ...agent.caller, orgId: ANOTHER_ORG }), "not_found");
    assert.equal((await steps.sign(held)).outcome, "signed");
  });

  test("rejects an expired lease, also after the request is signed", async () => {
    const requestId = await steps.create();
    const old = await steps.claimed(requestId);
    clock.advance(30 * SECOND);
    assert.equal((await steps.sign(old)).outcome, "lease_lost");
    const anew = await steps.claimed(requestId, other);
    assert.equal((await steps.sign(old)).outcome, "lease_lost");
    assert.equal((await steps.sign(anew, other)).outcome, "signed");
    assert.equal((await steps.sign(old)).outcome, "already_final");
  });
});
