import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { signingInputHash } from "@signet/protocol/ledger/entry";
import { formatLedgerProof, type LedgerProof } from "@signet/protocol/ledger/proof";
import type { LedgerSettings } from "../configuration/settings.ts";
import { SignetError, type SignetErrorCode } from "../errors.ts";
import {
  createTestLedger,
  LEDGER_NAME,
  ledgerKey,
  refusal,
  type TestLedger,
} from "../testing/test-ledger.ts";
import { createTestProvider, ISSUER, START_MS } from "../testing/test-provider.ts";
import { verifyAccessToken } from "../tokens/access-token.ts";
import type { Claims } from "../tokens/claims.ts";
import { createLedgerProofs, type LedgerProofOptions } from "./ledger-proofs.ts";

const provider = await createTestProvider();
const URL_OF = `https://${LEDGER_NAME}`;
let ledger: TestLedger;
beforeEach(() => {
  ledger = createTestLedger();
});

/** What the service answers with, in the order of the calls; then as the ledger. */
function stage(settings: Partial<LedgerSettings> = {}, options: LedgerProofOptions = {}) {
  const fixture = {
    calls: [] as string[],
    waits: 0,
    answers: [] as Array<Response | Error>,
    change: undefined as ((proof: LedgerProof) => LedgerProof | string) | undefined,
  };
  const answer = async (url: string): Promise<Response> => {
    const given = fixture.answers.shift();
    if (given instanceof Error) throw given;
    if (given) return given;
    const sha256 = new URL(url).searchParams.get("sha256") ?? "";
    const proof = fixture.change && (await ledger.proofOf(sha256));
    if (!proof) return ledger.answer(sha256);
    const changed = fixture.change?.(proof) ?? "";
    return new Response(typeof changed === "string" ? changed : formatLedgerProof(changed));
  };
  const proofs = createLedgerProofs(
    {
      ...{ mode: "wait", url: URL_OF, key: ledger.log.text, quorum: 2, environment: "production" },
      ...{ witnesses: ledger.witnesses.map(({ text }) => text), ...settings },
    },
    {
      clock: () => START_MS,
      fetch: async (input) => {
        fixture.calls.push(String(input));
        return answer(String(input));
      },
      wait: async () => {
        fixture.waits++;
      },
      ...options,
    },
  );
  const require = (token: string, claims: Claims = { iat: START_MS / 1000 }) =>
    proofs.require({ token, kind: "access_token", kid: "key-1", claims });
  return Object.assign(fixture, { proofs, require });
}

let count = 0;
const newToken = (): string => `e30.${Buffer.from(`{"n":${count++}}`).toString("base64url")}.c2ln`;
const logged = (more: Parameters<TestLedger["add"]>[1] = {}): string => {
  for (let others = 0; others < 3; others++) ledger.add(newToken());
  const token = newToken();
  ledger.add(token, more);
  ledger.add(newToken());
  return token;
};
const refused = (work: Promise<unknown>, code: SignetErrorCode, about = "") =>
  assert.rejects(work, (error) => {
    assert.ok(error instanceof SignetError, about);
    assert.equal(error.code, code, `${about} ${error.message}`);
    return true;
  });

test("a logged and witnessed signature is accepted, and asked for once", async () => {
  const token = logged();
  const fixture = stage();
  await Promise.all([fixture.require(token), fixture.require(token)]);
  await fixture.require(token);
  assert.deepEqual(fixture.calls, [`${URL_OF}/proof?sha256=${signingInputHash(token)}`]);
  ledger.cosigners = ledger.witnesses.slice(1);
  await stage().require(token);
});

test("a signature is waited for until the merge delay is over", async () => {
  const token = logged();
  const fixture = stage();
  fixture.answers.push(refusal("not-logged"), refusal("not-logged"), refusal("not-witnessed"));
  await fixture.require(token);
  assert.equal(fixture.waits, 3);
  const never = stage();
  await refused(never.require(newToken()), "ledger_proof_missing");
  assert.equal(never.calls.length, 12);
  const old = stage();
  await refused(old.require(newToken(), { iat: START_MS / 1000 - 71 }), "ledger_proof_missing");
  assert.equal(old.calls.length, 1, "an old one would be there");
});

test("too few cosignatures of the configured witnesses", async () => {
  const token = logged();
  const stranger = ledgerKey("w1.example", 4);
  for (const cosigners of [[], ledger.witnesses.slice(2), [stranger, ...ledger.witnesses.slice(2)]]) {
    ledger.cosigners = cosigners;
    await refused(stage().require(token), "ledger_not_witnessed");
  }
  const [, , third] = ledger.witnesses;
  ledger.cosigners = third ? [third, third] : [];
  await refused(stage().require(token), "ledger_not_witnessed", "one that has signed twice is one");
});

test("what the service makes of a proof is refused by name", async () => {
  const token = logged();
  const other = stage();
  other.answers.push(await ledger.answer(signingInputHash(logged())));
  await refused(other.require(token), "ledger_proof_invalid", "of another signature");
  const changes: Record<string, (proof: LedgerProof) => LedgerProof | string> = {
    "another place": (proof) => ({ ...proof, index: proof.index - 1 }),
    "a shorter path": (proof) => ({ ...proof, proof: proof.proof.slice(1) }),
    "a longer path": (proof) => ({ ...proof, proof: [...proof.proof, Buffer.alloc(32)] }),
    "another hash": (proof) => ({ ...proof, proof: [Buffer.alloc(32), ...proof.proof.slice(1)] }),
    "another entry": (proof) => ({ ...proof, entry: proof.entry.replace('"local"', '"pool:x"') }),
    "an entry with two hashes": (proof) => ({ ...proof, entry: proof.entry.replace("{", '{"sha256":"x",') }),
    "a larger tree": (proof) => ({ ...proof, checkpoint: proof.checkpoint.replace(/\n\d+\n/, "\n99\n") }),
    "no checkpoint": (proof) => ({ ...proof, checkpoint: "" }),
    html: () => "<html></html>\n\n",
  };
  for (const [about, change] of Object.entries(changes)) {
    const fixture = stage();
    fixture.change = change;
    await refused(fixture.require(token), "ledger_proof_invalid", about);
  }
});

test("another log's key, another key or kind in the entry, and a misspelt key", async () => {
  const token = logged();
  await refused(stage({ key: ledgerKey(LEDGER_NAME, 1).text }).require(token), "ledger_proof_invalid");
  await refused(stage({ key: ledgerKey("other.example", 1).text }).require(token), "ledger_proof_invalid");
  await refused(stage().require(logged({ kid: "key-2" })), "ledger_proof_invalid");
  await refused(stage().require(logged({ kind: "id_token" })), "ledger_proof_invalid");
  const misspelt = ledger.log.text.replace(/\+[0-9a-f]{8}\+/, "+00000000+");
  await refused(stage({ key: misspelt }).require(token), "configuration");
});

test("a ledger that is away, off, or behind a page refuses the token", async () => {
  const token = logged();
  const answers: ReadonlyArray<readonly [SignetErrorCode, Response | Error]> = [
    ["provider_unreachable", new TypeError("fetch failed")],
    ["provider_unreachable", new Response("", { status: 503 })],
    ["provider_answer", refusal("not-found")],
    ["provider_answer", new Response("", { status: 302, headers: { location: "https://evil.example" } })],
  ];
  for (const [code, answer] of answers) {
    const fixture = stage();
    fixture.answers.push(answer);
    await refused(fixture.require(token), code);
  }
});

test("async: the request goes on, the token is refused from then on, and somebody hears of it", async () => {
  const heard: Array<readonly [string, string]> = [];
  const errors: Error[] = [];
  let settle = () => {};
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const fixture = stage(
    { mode: "async" },
    {
      onError: (error) => errors.push(error),
      onUnproven: ({ code }, { sha256 }) => {
        heard.push([code, sha256]);
        settle();
      },
    },
  );
  const token = newToken();
  await fixture.require(token);
  await settled;
  assert.deepEqual(heard, [["ledger_proof_missing", signingInputHash(token)]]);
  assert.equal(errors.length, 1);
  await refused(fixture.require(token), "ledger_proof_missing");
  assert.equal(fixture.calls.length, 12, "the answer is kept for a while");
  const good = logged();
  await fixture.require(good);
  await fixture.require(good);
});

test("async: a token that was refused comes in again once it is proven", async () => {
  let now = START_MS;
  const failed = Promise.withResolvers<void>();
  const fixture = stage({ mode: "async" }, { clock: () => now, onUnproven: () => failed.resolve() });
  const token = logged();
  fixture.answers.push(new TypeError("fetch failed"));
  await fixture.require(token);
  await failed.promise;
  await refused(fixture.require(token), "provider_unreachable");
  now += 5_001;
  fixture.answers.push(new TypeError("fetch failed"));
  await refused(fixture.require(token), "provider_unreachable", "it is waited for now");
  now += 5_001;
  await fixture.require(token);
});

test("verifyAccessToken demands it of verified tokens alone, by an access token where the ledger is for members", async () => {
  const asked: Array<string | null> = [];
  const fixture = stage(
    {},
    {
      ledgerToken: async () => "ours",
      fetch: async (input, init) => {
        asked.push(new Headers(init?.headers).get("authorization"));
        return ledger.answer(new URL(String(input)).searchParams.get("sha256") ?? "");
      },
    },
  );
  const token = await provider.accessToken();
  const keys = {
    keyFor: async () =>
      crypto.subtle.importKey("jwk", provider.key.jwk, { name: "ECDSA", namedCurve: "P-256" }, false, [
        "verify",
      ]),
  };
  const verify = (text: string) =>
    verifyAccessToken(text, {
      ...{ keys, issuer: ISSUER, audience: "https://api.example", allowUntyped: false },
      ...{ clock: () => START_MS, ledger: fixture.proofs },
    });
  await refused(verify(token), "ledger_proof_missing");
  assert.deepEqual(new Set(asked), new Set(["Bearer ours"]));
  asked.length = 0;
  await refused(verify(`${token.slice(0, -8)}AAAAAAAA`), "token_signature");
  assert.equal(asked.length, 0);
});
