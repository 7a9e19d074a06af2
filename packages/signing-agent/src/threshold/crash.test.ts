/**
 * A machine that dies at every step of a resharing: before or after each file that it writes and each message that it sends. Started
 * again, it goes on where it was; the key is the same in the end, and no share is lost.
 */
import assert from "node:assert/strict";
import { cp, mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { spokenHash } from "@signet/protocol/threshold/messages";
import { messenger } from "../testing/ceremony-messenger.ts";
import { advance, confirm } from "./ceremony.ts";
import { openShare, readShares } from "./group-share.ts";
import { deal } from "./reshare.ts";
import type { CeremonyDeps } from "./say.ts";
import { ERASING } from "./sealed-folder.ts";

/** SIGNET_TEST_WHOLE=1 dies at every step. */
const STRIDE = process.env["SIGNET_TEST_WHOLE"] === "1" ? 1 : 5;

class Crash extends Error {
  override name = "Crash";
}

/** Dies at its `at`th step, once. */
function mortal(deps: CeremonyDeps, life: { steps: number; readonly at: number }): CeremonyDeps {
  const step = async <T>(act: () => Promise<T>): Promise<T> => {
    if (life.steps++ === life.at) throw new Crash("before");
    const result = await act();
    if (life.steps++ === life.at) throw new Crash("after");
    return result;
  };
  const { sealed, service } = deps;
  return {
    ...deps,
    sealed: {
      ...sealed,
      write: (name, value) => step(() => sealed.write(name, value)),
      remove: (name) => step(() => sealed.remove(name)),
      erase: (name) => step(() => sealed.erase(name)),
    },
    service: { ...service, say: (id, message) => step(() => service.say(id, message)) },
  };
}

describe("a machine that dies", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-crash-"));
  });
  after(() => rm(folder, { recursive: true }));

  /** @returns how many steps the machine of this number took */
  type Scenario = (deadly: number, at: number) => Promise<number>;

  /** Whatever dies is started again, as an operator does it. */
  async function untilDone<T>(act: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
      }
    }
  }

  async function scenario(): Promise<Scenario> {
    const told = messenger(folder, { min: 2, max: 2 });
    const all = [await told.machine(0), await told.machine(1), await told.machine(2)];
    const from = told.begin();
    const founders = all.slice(0, 2);
    for (let turn = 0; turn < 2; turn++) for (const one of founders) await advance(one);
    for (const one of founders) {
      const progress = await advance(one);
      assert.ok("share" in progress);
      await confirm(one, spokenHash(progress.share.transcript));
    }
    for (const one of founders) await advance(one);
    const [{ kid = "", publicKey = "" } = {}] = await readShares(founders[0]?.sealed ?? assert.fail());
    await cp(folder, `${folder}-kept`, { recursive: true });

    return async (deadly, at) => {
      // Every life begins with the same disks.
      for (const name of await readdir(folder)) await rm(path.join(folder, name), { recursive: true });
      await cp(`${folder}-kept`, folder, { recursive: true });
      const id = told.begin({ kid, from, members: [1, 2] });
      const life = { steps: 0, at };
      const machines = all.map((one, index) => (index === deadly ? mortal(one, life) : one));
      const [a, b, c] = machines as [CeremonyDeps, CeremonyDeps, CeremonyDeps];
      const step = async () => {
        for (const one of [b, c]) await untilDone(() => advance(one));
      };
      await step();
      const roster = await untilDone(() => advance(b));
      assert.ok(roster.at === "roster");
      const spoken = spokenHash(roster.roster.hash);
      for (const one of [a, b])
        await untilDone(async () => {
          const { ceremony } = await one.service.pool(id);
          assert.ok(ceremony);
          return deal(one, { ceremony, kept: await readShares(one.sealed) }, spoken);
        });
      await step();
      const compared = await untilDone(() => advance(b));
      assert.ok(compared.at === "compare");
      for (const one of [b, c]) await untilDone(() => confirm(one, spokenHash(compared.share.transcript)));
      await step();
      await checkOutcome([b, c], { id, publicKey });
      return life.steps;
    };
  }

  async function checkOutcome(
    members: readonly CeremonyDeps[],
    { id, publicKey }: { readonly id: string; readonly publicKey: string },
  ): Promise<void> {
    for (const { sealed } of members) {
      const shares = await readShares(sealed);
      assert.deepEqual(
        shares.map((one) => [one.ceremony, one.state, one.publicKey]),
        [[id, "active", publicKey]],
      );
      for (const share of shares) openShare(share);
      const left = (await readdir(sealed.folder)).filter((name) => !name.startsWith("share-"));
      assert.deepEqual(left, [], "secrets of the ceremony");
    }
  }

  test("goes on where it was: who leaves, who stays, and who is new", async (t) => {
    const run = await scenario();
    t.after(() => rm(`${folder}-kept`, { recursive: true }));
    for (const [deadly, name] of ["who leaves", "who stays", "who is new"].entries()) {
      const steps = await run(deadly, Number.POSITIVE_INFINITY);
      assert.ok(steps > 0, name);
      for (let at = deadly % STRIDE; at < steps; at += STRIDE) await run(deadly, at);
    }
  });

  test("what was cut off while it was written or erased is no share", async () => {
    const own = await mkdtemp(path.join(folder, "cut-"));
    const { sealed } = await messenger(own, { min: 2, max: 2 }).machine(0);
    const name = `share-${"A".repeat(43)}`;
    await sealed.write(`${name}.0123456789ab.new`, { cut: true });
    await writeFile(path.join(sealed.folder, `${ERASING}${name}`), "half of it", { mode: 0o600 });
    assert.deepEqual(await readShares(sealed), []);
    assert.deepEqual(await readdir(sealed.folder), [`${name}.0123456789ab.new`]);
    await sealed.write(name, { signingShare: "hidden" });
    const kept = await open(path.join(sealed.folder, name), "r");
    const before = await kept.readFile();
    await sealed.erase(name);
    await assert.rejects(sealed.read(name).then((value) => assert.ok(value)));
    // The name is gone; the bytes that it led to are others.
    const after = Buffer.alloc(before.length);
    await kept.read(after, 0, after.length, 0);
    await kept.close();
    assert.notDeepEqual(after, before);
  });
});
