/** What an agent reckons with its secrets is RFC 9591's: by the RFC's vectors, and by the reference. */
import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { describe, test } from "node:test";
import { ed25519, ed25519_FROST as frost } from "@noble/curves/ed25519.js";
import { frostIdentifier, groupOf, type NonceCommitment } from "@signet/protocol/threshold/group";
import { aggregateShares, frostCommitments, isNonceCommitment } from "@signet/protocol/threshold/shares";
import { openFrostSigner } from "./frost-signer.ts";

const signer = await openFrostSigner();
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
const bytes = (encoded: string) => new Uint8Array(Buffer.from(encoded, "base64url"));
const message = new Uint8Array(Buffer.from("header.payload"));

/** A key ceremony without its messages. */
function ceremony(min: number, max: number) {
  const signers = { min, max };
  const names = Array.from({ length: max }, (_, index) => String.fromCharCode(97 + index).repeat(43));
  const begun = names.map((kid) => ({ kid, ...frost.DKG.round1(frostIdentifier(kid), signers) }));
  const othersOf = (kid: string) => begun.filter((one) => one.kid !== kid).map((one) => one.public);
  const dealt = begun.map((one) => ({ ...one, dealt: frost.DKG.round2(one.secret, othersOf(one.kid)) }));
  const keys = dealt.map(({ kid, secret }) => {
    const received = dealt.flatMap((other) => other.dealt[frostIdentifier(kid)] ?? []);
    return { kid, ...frost.DKG.round3(secret, othersOf(kid), received) };
  });
  const commitments = begun.map((one) => ({ kid: one.kid, commitment: one.public.commitment.map(text) }));
  const group = groupOf(commitments, signers);
  assert.ok(group);
  const publicKey = createPublicKey({ key: { ...group.publicJwk }, format: "jwk" });
  return { keys, group, publicKey };
}

const pool = ceremony(3, 4);

function begun(chosen: readonly number[]) {
  const { keys, group, publicKey } = pool;
  const made = chosen.flatMap((index) => {
    const key = keys[index];
    return key ? [{ key, ...signer.newNonces(key.secret.signingShare) }] : [];
  });
  const commitments = made.map(({ key, commitment }): NonceCommitment => ({ kid: key.kid, ...commitment }));
  const sign = (list: readonly NonceCommitment[], message: Uint8Array) =>
    made.map(({ key, nonces }) => {
      const copy = { hiding: nonces.hiding.slice(), binding: nonces.binding.slice() };
      const own = { kid: key.kid, signingShare: key.secret.signingShare, nonces: copy };
      const round = { publicKey: group.publicJwk.x, message, commitments: list };
      return { kid: key.kid, share: signer.signatureShare(round, own) };
    });
  return { keys, made, group, publicKey, commitments, sign };
}

describe("an agent's arithmetic", () => {
  test("makes the RFC's nonces and commitments of the RFC's randomness (Appendix E.1)", () => {
    const hex = (encoded: string) => new Uint8Array(Buffer.from(encoded, "hex"));
    const random = [
      hex("0fd2e39e111cdc266f6c0f4d0fd45c947761f1f5d3cb583dfcb9bbaf8d4c9fec"),
      hex("69cd85f631d5f7f2721ed5e40519b1366f340a87c2f6856363dbdcda348a7501"),
    ];
    const share = hex("929dcc590407aae7d388761cddb0c0db6f5627aea8e217f4a033f2ec83d93509");
    const { nonces, commitment } = signer.newNonces(share, () => random.shift() ?? new Uint8Array());
    assert.deepEqual(
      [nonces.hiding, nonces.binding, bytes(commitment.hiding), bytes(commitment.binding)],
      [
        hex("812d6104142944d5a55924de6d49940956206909f2acaeedecda2b726e630407"),
        hex("b1110165fc2334149750b28dd813a39244f315cff14d4e89e6142f262ed83301"),
        hex("b5aa8ab305882a6fc69cbee9327e5a45e54c08af61ae77cb8207be3d2ce13de3"),
        hex("67e98ab55aa310c3120418e5050c9cf76cf387cb20ac9e4b6fdb6f82a469f932"),
      ],
    );
  });

  test("makes the reference's shares and group commitment, whoever signs, and nonces are used once", () => {
    for (const chosen of [
      [0, 1, 2],
      [3, 1, 0],
    ]) {
      const { made, group, publicKey, commitments } = begun(chosen);
      const round = { publicKey: group.publicJwk.x, message, commitments };
      const list = frostCommitments(commitments);
      const shares = made.map(({ key, nonces }) => {
        const copy = { hiding: nonces.hiding.slice(), binding: nonces.binding.slice() };
        const reference = text(frost.signShare(key.secret, key.public, copy, list, message));
        const own = { kid: key.kid, signingShare: key.secret.signingShare, nonces };
        const share = signer.signatureShare(round, own);
        assert.equal(text(bytes(share).subarray(32)), reference);
        assert.throws(() => signer.signatureShare(round, own), /used/);
        return { kid: key.kid, share };
      });
      const signature = aggregateShares({ group, publicKey, message, commitments, shares });
      assert.ok("signature" in signature);
      for (const { share } of shares)
        assert.deepEqual(bytes(share).subarray(0, 32), bytes(signature.signature).subarray(0, 32));
    }
  });

  test("is for members of the round, each there once", () => {
    const { made, group, commitments } = begun([0, 1, 2]);
    const round = { publicKey: group.publicJwk.x, message, commitments };
    const nonces = { hiding: new Uint8Array(32).fill(1), binding: new Uint8Array(32).fill(2) };
    const other = { kid: "x".repeat(43), signingShare: new Uint8Array(32).fill(1), nonces };
    assert.throws(() => signer.signatureShare(round, other), /not a member/);
    const [first] = made;
    assert.ok(first);
    const own = { kid: first.key.kid, signingShare: first.key.secret.signingShare, nonces: first.nonces };
    const twice = { ...round, commitments: [...commitments, ...commitments] };
    assert.throws(() => signer.signatureShare(twice, own), /signs once/);
  });

  test("a commitment outside the group makes no signature, and names whose it is", () => {
    const { group, publicKey, commitments, sign } = begun([0, 1, 2]);
    const eighth = ed25519.Point.fromHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a");
    const shares = sign(commitments, message);
    assert.ok("signature" in aggregateShares({ group, publicKey, message, commitments, shares }));
    const [first, ...others] = commitments;
    assert.ok(first);
    for (const point of ["hiding", "binding"] as const) {
      const moved = ed25519.Point.fromBytes(bytes(first[point])).add(eighth);
      const changed: NonceCommitment[] = [{ ...first, [point]: text(moved.toBytes()) }, ...others];
      assert.ok(changed.every(isNonceCommitment), "the service takes it: it costs too much to look closer");
      // A binding factor that is a multiple of eight brings the point into the group: one message in eight.
      const named = [1, 2, 3, 4].map((number) => {
        const message = new Uint8Array([number]);
        const signed = { group, publicKey, message, commitments: changed, shares: sign(changed, message) };
        const result = aggregateShares(signed);
        return "wrong" in result ? result.wrong : [];
      });
      assert.deepEqual([...new Set(named.flat())], [first.kid]);
    }
  });
});
