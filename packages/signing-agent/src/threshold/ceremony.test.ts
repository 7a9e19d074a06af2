/** A key ceremony whose messenger lies: what it swaps, hides or makes up is noticed, and nothing is signed. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { spokenHash } from "@signet/protocol/threshold/messages";
import { type Lie, type Message, messenger } from "../testing/ceremony-messenger.ts";
import { advance, confirm } from "./ceremony.ts";
import { CeremonyFault } from "./ceremony-fault.ts";
import { openShare, readShares } from "./group-share.ts";
import type { CeremonyDeps } from "./say.ts";

describe("a key ceremony", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-ceremony-"));
  });
  after(() => rm(folder, { recursive: true }));

  async function members(max: number, lie?: Lie) {
    const told = messenger(await mkdtemp(path.join(folder, "c-")), { min: 2, max });
    const id = told.begin();
    told.tell(lie);
    const all = [];
    for (let index = 0; index < max; index++) all.push(await told.machine(index));
    return { all, messages: told.ceremonies.get(id)?.messages ?? [] };
  }

  /** Each in turn, until none gets further. */
  async function toTranscripts(all: readonly CeremonyDeps[]) {
    for (let turn = 0; turn < 3; turn++) for (const one of all) await advance(one);
    return Promise.all(
      all.map(async (one) => {
        const progress = await advance(one);
        assert.ok("share" in progress);
        return progress.share;
      }),
    );
  }

  test("gives each member another share of one key, which is active after all confirmations", async () => {
    const { all } = await members(3);
    const shares = await toTranscripts(all);
    assert.equal(new Set(shares.map(({ kid }) => kid)).size, 1);
    assert.equal(new Set(shares.map(({ signingShare }) => signingShare)).size, 3);
    for (const share of shares) openShare(share);
    const spoken = spokenHash(shares[0]?.transcript ?? "");
    const progress = [];
    for (const one of all) progress.push((await confirm(one, spoken)).at);
    assert.deepEqual(progress, ["confirmed", "confirmed", "active"]);
    for (const one of all) assert.equal((await advance(one)).at, "active");
  });

  test("with a made-up member in place of a real one has other transcripts on other machines, and is not confirmed", async () => {
    const other = await members(1);
    const [made] = other.all;
    assert.ok(made);
    let fake: Message | undefined;
    const { all } = await members(2, (messages, to) =>
      to === 0 && fake
        ? messages.map((one) => (one.agentId === "1" && one.round === "join" ? (fake as Message) : one))
        : messages,
    );
    // Signed by an identity of the service's own, for this pool and ceremony.
    await advance({
      ...made,
      service: {
        ...made.service,
        pool: async () => ({ ...(await made.service.pool()), threshold: { min: 2, max: 2 } }),
      },
    });
    fake = other.messages[0];
    assert.ok(fake);
    for (const one of all) await advance(one);
    for (const one of all) await advance(one);
    await assert.rejects(
      advance(all[0] as CeremonyDeps),
      (error) => error instanceof CeremonyFault && error.code === "swapped_message",
    );
    assert.deepEqual(await readShares((all[0] as CeremonyDeps).sealed), []);
  });

  test("ends when a member's own message was changed on its way", async () => {
    const lie: Lie = (messages, to) =>
      messages.length < 2 || to !== 0
        ? messages
        : messages.map((one) => (one.agentId === "0" ? { ...one, message: `${one.message}A` } : one));
    const { all } = await members(2, lie);
    for (const one of all) await advance(one);
    await assert.rejects(
      advance(all[0] as CeremonyDeps),
      (error) => error instanceof CeremonyFault && error.code === "swapped_message",
    );
  });

  test("ends when a share was swapped, and names whose it was", async () => {
    const lie: Lie = (messages, to) => {
      if (to !== 0) return messages;
      const [first, ...others] = messages.filter(({ round }) => round === "shares");
      // Another member's shares, under the name of the first one.
      return first && others[0]
        ? messages.map((one) => (one === others[0] ? { ...first, agentId: one.agentId } : one))
        : messages;
    };
    const { all } = await members(3, lie);
    for (const one of all) await advance(one);
    for (const one of all) await advance(one);
    await assert.rejects(
      advance(all[0] as CeremonyDeps),
      (error) =>
        error instanceof CeremonyFault && error.code === "swapped_message" && error.about !== undefined,
    );
    await assert.rejects(
      advance(all[1] as CeremonyDeps),
      (error) => error instanceof CeremonyFault && error.code === "aborted",
    );
  });

  test("ends for all when an operator reads another transcript than this machine has", async () => {
    const { all } = await members(2);
    const [share] = await toTranscripts(all);
    const other = spokenHash(`${share?.transcript.startsWith("A") ? "B" : "A"}${share?.transcript.slice(1)}`);
    await assert.rejects(
      confirm(all[0] as CeremonyDeps, other),
      (error) => error instanceof CeremonyFault && error.code === "wrong_transcript",
    );
    assert.equal((await readShares((all[0] as CeremonyDeps).sealed))[0]?.state, "unconfirmed");
  });

  test("a confirmation that the service withholds or repeats for another makes no key active", async () => {
    const { all } = await members(2, (messages) => {
      const first = messages.find(({ round }) => round === "confirmation");
      return messages.map((one) =>
        one.round === "confirmation" && first ? { ...one, message: first.message } : one,
      );
    });
    const [share] = await toTranscripts(all);
    for (const one of all) await confirm(one, spokenHash(share?.transcript ?? ""));
    for (const one of all) assert.equal((await advance(one)).at, "confirmed");
  });
});
