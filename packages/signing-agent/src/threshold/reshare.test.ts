/** Resharing by a messenger that lies, and machines that crash: the key stays the same, or nothing changes. */
import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { ed25519, ed25519_FROST as frost } from "@noble/curves/ed25519.js";
import { frostIdentifier } from "@signet/protocol/threshold/group";
import { spokenHash } from "@signet/protocol/threshold/messages";
import { DEAL_TYPE } from "@signet/protocol/threshold/reshare";
import { addShares } from "@signet/protocol/threshold/signing";
import { type Lie, type Messenger, messenger } from "../testing/ceremony-messenger.ts";
import { advance, confirm } from "./ceremony.ts";
import { CeremonyFault } from "./ceremony-fault.ts";
import { openFrostSigner } from "./frost-signer.ts";
import { eraseShare, type KeptShare, openShare, readShares } from "./group-share.ts";
import { deal, isSuperseded } from "./reshare.ts";
import { type CeremonyDeps, signed } from "./say.ts";

const signer = await openFrostSigner();

type MachineDeps = Awaited<ReturnType<Messenger["machine"]>>;

describe("a resharing", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-reshare-"));
  });
  after(() => rm(folder, { recursive: true }));

  /** Three machines with a key of 2 of 3, and a fourth without a share. */
  async function pool() {
    const told = messenger(await mkdtemp(path.join(folder, "p-")), { min: 2, max: 3 });
    const all: MachineDeps[] = [];
    for (let index = 0; index < 4; index++) all.push(await told.machine(index));
    const from = told.begin();
    const [a, b, c, d] = all as [MachineDeps, MachineDeps, MachineDeps, MachineDeps];
    const old = await finish([a, b, c]);
    const kid = old[0]?.kid ?? "";
    return { told, all, ...{ a, b, c, d }, kid, from, old };
  }

  /** As far as it goes with honest operators. @returns the new members' shares */
  async function finish(members: readonly CeremonyDeps[]): Promise<KeptShare[]> {
    for (let turn = 0; turn < 3; turn++) for (const one of members) await advance(one);
    const transcripts = [];
    for (const one of members) {
      const progress = await advance(one);
      assert.ok("share" in progress, progress.at);
      transcripts.push(spokenHash(progress.share.transcript));
    }
    for (const [index, one] of members.entries())
      await confirm(one, transcripts[(index + 1) % members.length] ?? "");
    const shares = [];
    for (const one of members) {
      const progress = await advance(one);
      assert.ok("share" in progress && progress.at === "active", progress.at);
      shares.push(progress.share);
    }
    return shares;
  }

  async function toRoster(members: readonly CeremonyDeps[]): Promise<string> {
    let hash = "";
    for (const _ of [1, 2])
      for (const one of members) {
        const progress = await advance(one);
        if (progress.at === "roster") hash = progress.roster.hash;
      }
    return spokenHash(hash);
  }

  async function dealBy(one: CeremonyDeps, roster: string) {
    const { ceremony } = await one.service.pool();
    assert.ok(ceremony);
    return deal(one, { ceremony, kept: await readShares(one.sealed) }, roster);
  }

  const isFault = (code: CeremonyFault["code"], about?: string) => (error: unknown) => {
    assert.ok(error instanceof CeremonyFault, String(error));
    assert.equal(error.code, code, error.message);
    if (about !== undefined) assert.equal(error.about, about);
    return true;
  };

  /** @returns whether these shares make a signature of the key */
  function canSign(kid: string, publicKey: string, shares: readonly KeptShare[]): boolean {
    const message = new Uint8Array(Buffer.from("header.payload"));
    const made = shares.map((share) => {
      const secret = {
        identifier: frostIdentifier(share.own),
        signingShare: new Uint8Array(Buffer.from(share.signingShare, "base64url")),
      };
      return { share, secret, ...frost.commit(secret) };
    });
    const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
    const commitments = made.map(({ share, commitments: { hiding, binding } }) => ({
      ...{ kid: share.own, hiding: text(hiding), binding: text(binding) },
    }));
    const round = { publicKey, message, commitments };
    const parts = made.map(({ share, secret, nonces }) => {
      const own = { kid: share.own, signingShare: secret.signingShare, nonces };
      return new Uint8Array(Buffer.from(signer.signatureShare(round, own), "base64url"));
    });
    const [commitment] = parts.map((part) => part.slice(0, 32));
    assert.ok(commitment);
    const signature = addShares(
      commitment,
      parts.map((part) => part.slice(32)),
    );
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: publicKey }, format: "jwk" });
    assert.equal(shares[0]?.kid, kid);
    return verify(null, message, key, signature);
  }

  test("replaces a lost machine: the key is the same, any two of the new shares sign, no old share does", async () => {
    const { told, a, b, c, d, kid, from, old } = await pool();
    const id = told.begin({ kid, from, members: [0, 1, 3] });
    const roster = await toRoster([a, b, d]);
    await dealBy(a, roster);
    await dealBy(b, roster);
    const fresh = await finish([a, b, d]);
    const publicKey = old[0]?.publicKey ?? "";
    for (const share of fresh) {
      openShare(share);
      assert.deepEqual([share.kid, share.publicKey, share.ceremony, share.from], [kid, publicKey, id, from]);
    }
    for (const [one, other] of [
      [0, 1],
      [0, 2],
      [1, 2],
    ] as const)
      assert.ok(canSign(kid, publicKey, [fresh[one], fresh[other]] as KeptShare[]));
    // An old and a new share, the lost machine's and the new one's among them.
    assert.ok(!canSign(kid, publicKey, [old[2], fresh[0]] as KeptShare[]));
    assert.ok(!canSign(kid, publicKey, [old[2], fresh[2]] as KeptShare[]));
    // The old shares are gone from who stays; who leaves has its own until its agent has the proof.
    for (const one of [a, b, d])
      assert.deepEqual(
        (await readShares(one.sealed)).map(({ ceremony }) => ceremony),
        [id],
      );
    const [left] = await readShares(c.sealed);
    assert.ok(left && (await isSuperseded(c.service, left, id)));
    await eraseShare(c.sealed, left);
    assert.deepEqual(await readdir(c.folder), []);
    for (const one of [a, b, d])
      assert.deepEqual(
        (await readdir(one.folder)).filter((name) => !name.startsWith("share-")),
        [],
        "nothing of the ceremony is left",
      );
  });

  test("can be repeated, and an agent that was away for two of them catches up", async () => {
    const { told, a, b, c, d, kid, from } = await pool();
    const second = told.begin({ kid, from, members: [0, 1, 3] });
    let roster = await toRoster([a, b, d]);
    await dealBy(a, roster);
    await dealBy(b, roster);
    await finish([a, b, d]);
    const third = told.begin({ kid, from: second, members: [0, 3, 1] });
    roster = await toRoster([a, b, d]);
    await dealBy(b, roster);
    await dealBy(d, roster);
    const shares = await finish([a, b, d]);
    assert.ok(canSign(kid, shares[0]?.publicKey ?? "", shares.slice(1)));
    const [left] = await readShares(c.sealed);
    assert.ok(left && (await isSuperseded(c.service, left, third)));
    // Without the step between, or with a confirmation withheld, nothing is proven.
    const without = async (id?: string) => {
      const found = await c.service.pool(id);
      return id === second ? { ...found, ceremony: null } : found;
    };
    assert.equal(await isSuperseded({ pool: without }, left, third), false);
    told.tell((messages) => {
      const [first] = messages.filter(({ round }) => round === "confirmation");
      return messages.filter((one) => one !== first);
    });
    assert.equal(await isSuperseded(c.service, left, third), false);
    assert.equal(await isSuperseded(c.service, left, left.ceremony), false);
    assert.equal(await isSuperseded(c.service, left, "unknown"), false);
  });

  test("nothing is dealt to a roster that a new member's machine does not show", async () => {
    const { told, a, b, d, kid, from } = await pool();
    const fake = await told.machine(9);
    told.begin({ kid, from, members: [0, 1, 3, 9] });
    for (const one of [b, d, fake]) await advance(one);
    // The service shows the old members a machine of its own in place of the first.
    const shown = await toRoster([b, d]);
    told.tell((messages, to) => (to === 3 ? messages.slice(0, 2) : messages));
    await assert.rejects(dealBy(a, spokenHash("A".repeat(43))), isFault("wrong_roster"));
    await assert.rejects(
      dealBy(a, `${shown.slice(0, -1)}${shown.endsWith("0") ? "1" : "0"}`),
      isFault("wrong_roster"),
    );
    await assert.rejects(dealBy(d, shown), isFault("not_joined"));
    assert.equal(told.ceremonies.get([...told.ceremonies.keys()].at(-1) ?? "")?.messages.length, 3);
  });

  test("a deal that was swapped on its way ends it", async () => {
    const { told, a, b, d, kid, from } = await pool();
    const wrong = async (change: Lie) => {
      told.begin({ kid, from, members: [0, 1, 3] });
      const roster = await toRoster([a, b, d]);
      await dealBy(a, roster);
      await dealBy(b, roster);
      told.tell((messages, to, ceremony) => (to === 3 ? change(messages, to, ceremony) : messages));
      await assert.rejects(advance(d), isFault("swapped_message"));
      told.tell();
      await assert.rejects(advance(b), isFault("aborted"));
      for (const one of [a, b])
        assert.deepEqual(
          (await readShares(one.sealed)).map(({ ceremony }) => ceremony),
          [from],
          "the old share stays",
        );
      assert.deepEqual(await readShares(d.sealed), []);
    };
    const first = (messages: Parameters<Lie>[0]) => messages.find(({ round }) => round === "deal");
    await wrong((messages) =>
      messages.map((one) =>
        one === first(messages) ? { ...one, message: `${one.message.slice(0, -4)}AAAA` } : one,
      ),
    );
    // The other's deal in its place: then one of two is missing.
    await wrong((messages) =>
      messages.map((one) =>
        one === first(messages) ? (messages.findLast(({ round }) => round === "deal") ?? one) : one,
      ),
    );
  });

  describe("names a member that deals wrongly, and gives no share:", () => {
    type Payload = Record<string, unknown> & {
      commitment: string[];
      shares: Record<string, string>;
      before: { commitments: string[] };
    };
    const other = Buffer.from(ed25519.Point.BASE.multiply(7n).toBytes()).toString("base64url");
    const cases: ReadonlyArray<
      readonly [string, CeremonyFault["code"], (payload: Payload, to: string) => unknown]
    > = [
      ["another share than its own", "invalid_share", ({ commitment }) => commitment.splice(0, 1, other)],
      ["one that it did not commit to", "invalid_share", ({ commitment }) => commitment.splice(1, 1, other)],
      ["one that nobody can read", "invalid_share", ({ shares }, to) => (shares[to] = "A".repeat(80))],
      ["to fewer members", "invalid_share", ({ shares }, to) => delete shares[to]],
      ["to another roster", "swapped_message", (payload) => (payload["roster"] = "A".repeat(43))],
      ["of another key", "wrong_key", ({ before }) => before.commitments.splice(0, 1, other)],
      ["of another sharing of the key", "wrong_key", ({ before }) => before.commitments.splice(1, 1, other)],
    ];
    let made: Awaited<ReturnType<typeof pool>>;
    // Each ends its resharing: the old shares are as before.
    before(async () => {
      made = await pool();
    });
    for (const [name, code, change] of cases)
      test(name, async () => {
        const { told, a, b, d, kid, from } = made;
        const id = told.begin({ kid, from, members: [0, 1, 3] });
        const roster = await toRoster([a, b, d]);
        await dealBy(a, roster);
        await dealBy(b, roster);
        const messages = told.ceremonies.get(id)?.messages ?? [];
        const index = messages.findIndex(({ round, agentId }) => round === "deal" && agentId === "0");
        const honest = messages[index];
        assert.ok(honest);
        const payload = JSON.parse(
          Buffer.from(honest.message.split(".")[1] ?? "", "base64url").toString(),
        ) as Payload;
        change(payload, d.identity.kid);
        messages[index] = { ...honest, message: await signed(a, DEAL_TYPE, id, payload) };
        // Who has a share of the key knows what it was before; who has none has to believe two members.
        const judge = name === "of another sharing of the key" ? b : d;
        await assert.rejects(advance(judge), isFault(code, a.identity.kid));
        assert.equal((await readShares(judge.sealed)).filter(({ from: of }) => of === from).length, 0);
        await assert.rejects(advance(d), isFault("aborted"));
      });
  });

  test("has no effect until the last new member has confirmed", async () => {
    const { told, a, b, d, kid, from } = await pool();
    told.begin({ kid, from, members: [0, 1, 3] });
    const roster = await toRoster([a, b, d]);
    await dealBy(a, roster);
    await dealBy(b, roster);
    const progress = await advance(a);
    assert.ok(progress.at === "compare");
    const spoken = spokenHash(progress.share.transcript);
    for (const one of [b, d]) await advance(one);
    assert.equal((await confirm(a, spoken)).at, "confirmed");
    assert.equal((await confirm(b, spoken)).at, "confirmed");
    assert.deepEqual(
      (await readShares(a.sealed)).map(({ state }) => state),
      ["active", "confirmed"],
    );
    await assert.rejects(confirm(d, spokenHash("A".repeat(43))), isFault("wrong_transcript"));
    // Its confirmation is out: the share stays, should the others have been told otherwise.
    await assert.rejects(advance(a), isFault("aborted"));
    assert.deepEqual(
      (await readShares(a.sealed)).map(({ state }) => state),
      ["active", "confirmed"],
    );
    await assert.rejects(advance(d), isFault("aborted"));
    assert.deepEqual(await readShares(d.sealed), []);
  });
});
