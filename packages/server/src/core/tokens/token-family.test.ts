import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import { keyRing } from "../encryption/key-ring.ts";
import {
  deriveSuccessors,
  familyIdFromRefreshToken,
  familyIdFromTokenId,
  namesDefinition,
  newClientTokenId,
  newRefreshToken,
  newTokenId,
  renewTokenId,
} from "./token-family.ts";

const keys = { refreshTokenKeys: keyRing(Buffer.alloc(32, 1)) };
const org = newUuid();
const family = newUuid();

test("reveals the family of a refresh token to its own organisation and master key only", () => {
  const token = newRefreshToken(keys, org, family);
  assert.match(token, /^sgn_rt_[A-Za-z0-9_-]{75}$/);
  assert.equal(familyIdFromRefreshToken(keys, org, token), family);
  assert.equal(familyIdFromRefreshToken(keys, newUuid(), token), undefined);
  assert.equal(
    familyIdFromRefreshToken({ refreshTokenKeys: keyRing(Buffer.alloc(32, 2)) }, org, token),
    undefined,
  );
});

test("derives the same successor every time, different from every other token", () => {
  const first = newRefreshToken(keys, org, family);
  const second = deriveSuccessors(keys, org, family, first)[0];
  assert.equal(deriveSuccessors(keys, org, family, first)[0], second);
  assert.equal(familyIdFromRefreshToken(keys, org, second), family);
  assert.equal(
    new Set([
      first,
      second,
      deriveSuccessors(keys, org, family, second)[0],
      newRefreshToken(keys, org, family),
    ]).size,
    4,
  );
  assert.notEqual(
    deriveSuccessors({ refreshTokenKeys: keyRing(Buffer.alloc(32, 2)) }, org, family, first)[0],
    second,
  );
});

test("rejects tokens forged from a known family, and any second spelling of a token", () => {
  const token = newRefreshToken(keys, org, family);
  const bytes = Buffer.from(token.slice(7), "base64url");
  for (let at = 0; at < bytes.length; at++) {
    const altered = Buffer.from(bytes);
    altered[at] = (altered[at] ?? 0) ^ 1;
    assert.equal(familyIdFromRefreshToken(keys, org, `sgn_rt_${altered.toString("base64url")}`), undefined);
  }
  const guessed = Buffer.concat([bytes.subarray(0, 16), randomBytes(40)]);
  for (const other of [
    `sgn_rt_${guessed.toString("base64url")}`,
    `${token}=`,
    token.replace("sgn_rt_", "sgn_ac_"),
    "",
    "sgn_rt_",
  ]) {
    assert.equal(familyIdFromRefreshToken(keys, org, other), undefined);
  }
  // 56 bytes leave two unused bits in the last character.
  const last = token.at(-1) ?? "";
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const neighbour = alphabet[alphabet.indexOf(last) + 1] ?? "";
  assert.equal(familyIdFromRefreshToken(keys, org, token.slice(0, -1) + neighbour), undefined);
});

test("a client's own token names the definitions of its scopes, whatever their number, and no family", () => {
  for (let count = 0; count <= 12; count++) {
    const ids = Array.from({ length: count }, () => newUuid());
    const made = newClientTokenId(Object.fromEntries(ids.map((id, at) => [`scope-${at}`, id])));
    for (const jti of [made, renewTokenId(made, newUuid())]) {
      assert.equal(familyIdFromTokenId(jti), undefined);
      for (const id of ids) assert.equal(namesDefinition(jti, id), true);
      assert.equal(namesDefinition(jti, newUuid()), count === 0 ? undefined : false);
    }
  }
});

test("a renewed id keeps its family and is another one", () => {
  const jti = newTokenId(family);
  const renewed = renewTokenId(jti, newUuid());
  assert.notEqual(renewed, jti);
  assert.equal(familyIdFromTokenId(renewed), family);
});
