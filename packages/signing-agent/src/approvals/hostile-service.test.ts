/** A service that swaps, repeats, invents and leaves out approvals: each is named, and nothing is signed. */
import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { type ApprovalClaims, approvalHash, approvalInput } from "@signet/protocol/approvals/approval";
import { signingInputHash } from "@signet/protocol/ledger/entry";
import { type AgentKey, agentKey } from "../keys/key-source.ts";
import { generatePrivateKey, memoryKey } from "../keys/pem-key.ts";
import { agentHarness } from "../testing/agent-harness.ts";
import { ISSUER, type RequestBody, sampleRequest } from "../testing/sample-request.ts";
import { openPeers } from "./peers.ts";

const newKey = async (alg: "ES256" | "EdDSA" | "PS256" = "ES256") =>
  agentKey(memoryKey(await generatePrivateKey(alg), alg), "test");
const [ada, bob, bobsOther, mallory] = [
  await newKey("EdDSA"),
  await newKey(),
  await newKey("PS256"),
  await newKey(),
];
const jwkOf = ({ publicJwk, alg }: AgentKey) => ({ ...publicJwk, alg }) as unknown as Record<string, string>;
const agents = [
  { name: "ada", keys: [jwkOf(ada)] },
  { name: "bob", keys: [jwkOf(bob), jwkOf(bobsOther)] },
];

describe("a signature that other agents approve", () => {
  const harness = agentHarness();
  let request: RequestBody;
  beforeEach(() => {
    request = sampleRequest(harness.key, Date.now());
  });

  const inputs = (of: RequestBody): Record<string, string> =>
    Object.fromEntries(
      of.tokens.map(({ use, protected: header, payload }) => [
        use,
        signingInputHash(`${header}.${payload}.`),
      ]),
    );
  const approve = async (key: AgentKey, changes: Partial<ApprovalClaims> = {}, of = request) => {
    const claims: ApprovalClaims = {
      ...{ iss: ISSUER, request: of.requestId, inputs: inputs(of), count: 1 },
      ...{ iat: Math.floor(Date.now() / 1000), ...changes },
    };
    const input = approvalInput(key, claims);
    return `${input}.${await key.sign(input)}`;
  };
  const start = (required: number) =>
    harness.start(undefined, { peers: openPeers({ required, agents }, [harness.key]) });
  const ask = (given: readonly string[] | undefined, required = 1) =>
    harness.fake.enqueue({ ...request, ...(given && { approvals: { required, given: [...given] } }) });
  const refused = async (given: readonly string[] | undefined, check: string) => {
    const ended = await ask(given);
    assert.equal(ended.outcome, "rejected", check);
    const line = (await harness.journalLines()).at(-1);
    assert.deepEqual([line?.["event"], line?.["check"]], ["refused", check]);
    request = sampleRequest(harness.key, Date.now());
  };

  test("is made once enough of them have, and names their approvals in journal and submission", async () => {
    start(3);
    const given = [await approve(ada), await approve(bobsOther)];
    assert.equal((await ask(given)).outcome, "signed");
    const { body } = harness.fake.calls.findLast(({ path }) => path === "agent/sign") ?? {};
    const own = String(body?.["approval"]);
    const [line] = await harness.journalLines();
    assert.deepEqual(line?.["approvals"], [...given, own].map(approvalHash));
    assert.equal(line?.["count"], 1);
  });

  test("is refused without them, whatever number the service names", async () => {
    start(2);
    await refused(undefined, "approvals_missing");
    await refused([], "approvals_missing");
  });

  test("one agent twice is one, by whichever of its keys", async () => {
    start(3);
    await refused([await approve(bob), await approve(bob)], "approval_twice");
    await refused([await approve(bob), await approve(bobsOther)], "approval_twice");
  });

  test("an approval of a key that the configuration lacks, or by another key in its name", async () => {
    start(2);
    await refused([await approve(mallory)], "approval_key");
    await refused([await approve(harness.key)], "approval_key");
    const [header, payload] = (await approve(bob)).split(".");
    const forged = `${header}.${payload}.${await mallory.sign(`${header}.${payload}`)}`;
    await refused([forged], "approval_signature");
  });

  test("an approval that was given before, for another request or for other bytes", async () => {
    start(2);
    const before = sampleRequest(harness.key, Date.now());
    await refused([await approve(ada, {}, before)], "approval_request");
    await refused([await approve(ada, { inputs: inputs(before) })], "approval_bytes");
    const [first = ""] = Object.keys(inputs(request));
    await refused(
      [await approve(ada, { inputs: { [first]: inputs(request)[first] ?? "" } })],
      "approval_bytes",
    );
    await refused([await approve(ada, { iss: "https://other.example" })], "approval_request");
    await refused([await approve(ada, { iat: Math.floor(Date.now() / 1000) - 301 })], "approval_age");
  });

  test("approvals of the two tokens swapped, a token swapped after it was approved, a spelling of its own", async () => {
    start(2);
    const { access_token = "", id_token = "" } = inputs(request);
    await refused(
      [await approve(ada, { inputs: { access_token: id_token, id_token: access_token } })],
      "approval_bytes",
    );
    const good = await approve(ada);
    request = { ...sampleRequest(harness.key, Date.now()), requestId: request.requestId };
    await refused([good], "approval_bytes");
    await refused([`${await approve(ada)}=`], "approval_signature");
    await refused(["a.b.c"], "approval_malformed");
    await refused([good.replace(".", "..")], "approval_malformed");
  });

  test("tokens that are rendered anew need approvals of their own", async () => {
    start(2);
    const given = [await approve(ada)];
    const renewed = sampleRequest(harness.key, Date.now());
    harness.fake.override = ({ path }) =>
      path === "agent/sign"
        ? { status: 409, body: { error: "stale_payload", tokens: renewed.tokens } }
        : undefined;
    assert.equal((await ask(given)).outcome, "rejected");
    assert.equal((await harness.journalLines()).at(-1)?.["check"], "approval_bytes");
  });

  test("another agent's tokens are approved, never signed, and only as the policy allows", async () => {
    start(2);
    const approvals: string[] = [];
    harness.fake.override = ({ path, body }) => {
      if (path !== "agent/approve") return undefined;
      approvals.push(String(body["approval"]));
      return { status: 200, body: {} };
    };
    request = sampleRequest(bob, Date.now());
    void ask([]);
    while (approvals.length === 0) await new Promise(setImmediate);
    const line = (await harness.journalLines()).find(({ event }) => event === "approved");
    assert.equal(line?.["approvalSha256"], approvalHash(approvals[0] ?? ""));
    assert.deepEqual([line?.["kid"], line?.["inputSha256"]], [bob.kid, inputs(request)["access_token"]]);
    assert.ok(harness.fake.calls.every(({ path }) => path !== "agent/sign"));
    request = sampleRequest(bob, Date.now(), { access: { scope: "admin" } });
    await refused([], "scope");
    request = sampleRequest(mallory, Date.now());
    await refused([], "header");
    assert.equal(approvals.length, 1);
  });

  test("an agent whose configuration has no others signs nothing that a pool wants approved", async () => {
    harness.start();
    await refused([await approve(ada)], "approvals");
  });
});

test("a configuration with this agent's own key, one key twice, or too few agents is refused", () => {
  const wrong = (required: number, ...others: typeof agents) =>
    assert.throws(() => openPeers({ required, agents: others }, [ada]), { name: "InvalidKey" });
  wrong(2, { name: "me", keys: [jwkOf(ada)] });
  wrong(2, { name: "bob", keys: [jwkOf(bob), jwkOf(bob)] });
  wrong(2, { name: "bob", keys: [jwkOf(bob)] }, { name: "eve", keys: [jwkOf(bob)] });
  wrong(2, { name: "bob", keys: [jwkOf(bob)] }, { name: "bob", keys: [jwkOf(mallory)] });
  wrong(3, { name: "bob", keys: [jwkOf(bob), jwkOf(mallory)] });
  wrong(2, { name: "bob", keys: [{ ...jwkOf(bob), d: "AAAA" }] });
});
