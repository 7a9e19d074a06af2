import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { describe, test } from "node:test";
import { ed25519, ed25519_FROST as frost } from "@noble/curves/ed25519.js";
import type { NonceCommitment } from "./group.ts";
import { frostIdentifier, groupOf, isOnCurve, readPoint } from "./group.ts";
import { aggregateShares, frostCommitments, isNonceCommitment } from "./shares.ts";

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
const kids = ["a", "b", "c"].map((letter) => letter.repeat(43));

/** A key ceremony without its messages. */
function ceremony(min: number, names = kids) {
  const signers = { min, max: names.length };
  const begun = names.map((kid) => ({ kid, ...frost.DKG.round1(frostIdentifier(kid), signers) }));
  const othersOf = (kid: string) => begun.filter((one) => one.kid !== kid).map((one) => one.public);
  const dealt = begun.map((one) => ({ ...one, dealt: frost.DKG.round2(one.secret, othersOf(one.kid)) }));
  const keys = dealt.map(({ kid, secret }) => {
    const received = dealt.flatMap((other) => other.dealt[frostIdentifier(kid)] ?? []);
    return { kid, ...frost.DKG.round3(secret, othersOf(kid), received) };
  });
  const group = groupOf(
    begun.map((one) => ({ kid: one.kid, commitment: one.public.commitment.map(text) })),
    signers,
  );
  assert.ok(group);
  return { keys, group };
}

describe("a group key", () => {
  test("follows from the members' commitments, as the members themselves reckon it", () => {
    const { keys, group } = ceremony(2);
    for (const key of keys) {
      assert.deepEqual(key.public.commitments.map(text), group.frost.commitments.map(text));
      for (const [identifier, share] of Object.entries(key.public.verifyingShares))
        assert.equal(text(share), text(group.frost.verifyingShares[identifier] ?? new Uint8Array()));
    }
    assert.equal(group.publicJwk.x, text(group.frost.commitments[0] ?? new Uint8Array()));
  });

  test("is none of too few, doubled, or invalid members", () => {
    const threshold = { min: 2, max: 2 };
    const good = {
      kid: "a",
      commitment: [2n, 3n].map((n) => text(ed25519.Point.BASE.multiply(n).toBytes())),
    };
    const other = { ...good, kid: "b" };
    assert.ok(groupOf([good, other], threshold));
    assert.equal(groupOf([good], threshold), undefined);
    assert.equal(groupOf([good, good], threshold), undefined);
    assert.equal(groupOf([good, { ...other, commitment: good.commitment.slice(1) }], threshold), undefined);
    const zero = text(ed25519.Point.ZERO.toBytes());
    assert.equal(groupOf([good, { ...other, commitment: [zero, zero] }], threshold), undefined);
    const negated = [2n, 3n].map((n) => text(ed25519.Point.BASE.multiply(n).negate().toBytes()));
    assert.equal(
      groupOf([good, { ...other, commitment: negated }], threshold),
      undefined,
      "the sum is no key",
    );
    assert.equal(groupOf([good, other], { min: 1, max: 2 }), undefined);
  });

  test("points of small order and other spellings are none", () => {
    const base = ed25519.Point.BASE.toBytes();
    assert.ok(readPoint(text(base)));
    const eighth = "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a";
    assert.equal(readPoint(text(new Uint8Array(Buffer.from(eighth, "hex")))), undefined);
    const mixed = ed25519.Point.BASE.add(ed25519.Point.fromBytes(new Uint8Array(Buffer.from(eighth, "hex"))));
    assert.equal(readPoint(text(mixed.toBytes())), undefined);
    assert.equal(readPoint(`${text(base)}=`), undefined);
    assert.equal(readPoint(1), undefined);
  });
});

const reads = (spelling: Uint8Array): boolean => {
  try {
    ed25519.Point.fromBytes(new Uint8Array(spelling));
    return true;
  } catch {
    return false;
  }
};

describe("shares", () => {
  const message = new Uint8Array(Buffer.from("header.payload"));

  function signed(min: number, signers: readonly number[]) {
    const { keys, group } = ceremony(min);
    const chosen = signers.flatMap((index) => keys[index] ?? []);
    const made = chosen.map((key) => ({ key, ...frost.commit(key.secret) }));
    const commitments = made.map(
      ({ key, commitments: { hiding, binding } }): NonceCommitment => ({
        kid: key.kid,
        hiding: text(hiding),
        binding: text(binding),
      }),
    );
    const list = frostCommitments(commitments);
    const shares = made.map(({ key, nonces }) => ({
      kid: key.kid,
      share: text(frost.signShare(key.secret, key.public, nonces, list, message)),
    }));
    const publicKey = createPublicKey({ key: { ...group.publicJwk }, format: "jwk" });
    return { group, publicKey, message, commitments, shares };
  }

  test("of any m members make a signature that Node verifies", () => {
    for (const signers of [
      [0, 1],
      [0, 2],
      [1, 2],
    ]) {
      const one = signed(2, signers);
      const made = aggregateShares(one);
      assert.ok("signature" in made);
      assert.ok(verify(null, message, one.publicKey, Buffer.from(made.signature, "base64url")));
    }
  });

  test("a wrong one is named, whatever is wrong with it", () => {
    const one = signed(3, [0, 1, 2]);
    const [first, second, third] = one.shares;
    assert.ok(first && second && third);
    for (const share of [first.share, text(new Uint8Array(32).fill(255)), "short"]) {
      const made = aggregateShares({ ...one, shares: [first, { ...second, share }, third] });
      assert.deepEqual(made, { wrong: [second.kid] });
    }
    const other = aggregateShares({ ...one, message: new Uint8Array([1]) });
    assert.deepEqual(other, { wrong: one.shares.map(({ kid }) => kid) });
  });

  test("the group commitment may come with a share: one that is wrong names whose it is", () => {
    const one = signed(2, [0, 1]);
    const made = aggregateShares(one);
    assert.ok("signature" in made);
    const commitment = Buffer.from(made.signature, "base64url").subarray(0, 32);
    const withIt = (claimed: Uint8Array, share: string) =>
      text(Buffer.concat([claimed, Buffer.from(share, "base64url")]));
    const [first, second] = one.shares;
    assert.ok(first && second);
    const claiming = { ...first, share: withIt(commitment, first.share) };
    assert.deepEqual(aggregateShares({ ...one, shares: [claiming, second] }), made);
    const lying = { ...second, share: withIt(ed25519.Point.BASE.toBytes(), second.share) };
    for (const shares of [
      [lying, claiming],
      [claiming, lying],
      [lying, first],
    ])
      assert.deepEqual(aggregateShares({ ...one, shares }), { wrong: [second.kid] });
    const both = { ...second, share: withIt(commitment, text(new Uint8Array(32).fill(1))) };
    assert.deepEqual(aggregateShares({ ...one, shares: [claiming, both] }), { wrong: [second.kid] });
  });

  test("too few make nothing", () => {
    const one = signed(2, [0, 1]);
    const fewer = { commitments: one.commitments.slice(1), shares: one.shares.slice(1) };
    assert.ok("wrong" in aggregateShares({ ...one, ...fewer }));
  });

  test("a commitment has two different points", () => {
    const [{ hiding, binding }] = signed(2, [0, 1]).commitments as [NonceCommitment];
    assert.ok(isNonceCommitment({ hiding, binding }));
    assert.ok(!isNonceCommitment({ hiding, binding: hiding }));
    assert.ok(!isNonceCommitment({ hiding, binding: "x" }));
    const one = Buffer.alloc(32);
    one[0] = 1;
    assert.ok(!isNonceCommitment({ hiding, binding: text(one) }), "the identity");
  });

  test("what is on the curve is what the reference reads", () => {
    const { p } = ed25519.Point.CURVE();
    const spelt = (y: bigint) => Buffer.from(y.toString(16).padStart(64, "0"), "hex").reverse();
    const numbers = Array.from({ length: 40 }, (_, index) => BigInt(index) ** 30n);
    const edges = [0n, p - 2n, p + 3n, 2n ** 255n - 1n];
    let points = 0;
    for (const y of [...numbers.map((one) => one % p), ...edges])
      for (const spelling of [spelt(y), spelt(y | (1n << 255n))]) {
        const isPoint = reads(spelling);
        if (y > 1n) assert.equal(isOnCurve(text(spelling)), isPoint, `${y}`);
        if (isPoint) points++;
      }
    assert.ok(points > 20, `${points}`);
    assert.ok(!isOnCurve(text(spelt(p - 1n))), "its x is zero");
  });
});
