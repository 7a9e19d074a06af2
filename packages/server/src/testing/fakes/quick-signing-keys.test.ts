import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { test } from "node:test";
import { quickSigningKeys } from "./quick-signing-keys.ts";

test("keys differ within a database across nodes, and repeat in another database", async () => {
  const [node, otherNode, elsewhere] = ["a", "a", "b"].map((database) => quickSigningKeys(database));
  assert.ok(node && otherNode && elsewhere);
  const keys = [await node("ES256"), await otherNode("ES256"), await node("ES256")];
  assert.equal(new Set(keys.map((key) => createPublicKey(key).export({ format: "jwk" }).x)).size, 3);
  assert.equal(await elsewhere("ES256"), keys[0]);
  assert.equal((await elsewhere("RS256")).asymmetricKeyDetails?.modulusLength, 2048);
});
