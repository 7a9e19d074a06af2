import assert from "node:assert/strict";
import { test } from "node:test";
import { readOptions } from "./options.ts";

test("without options every row is measured for all three, in five rounds of two seconds", () => {
  const options = readOptions([]);
  assert.ok(options !== "help");
  assert.equal(options.rows.length, 6);
  assert.deepEqual(options.only, ["bare", "peer", "signet"]);
  assert.equal(options.rounds, 5);
  assert.equal(options.seconds, 2);
});

test("rows and contestants can be chosen by name", () => {
  const options = readOptions(["--rows", "refresh,jwks", "--only", "bare,peer", "--rounds", "1"]);
  assert.ok(options !== "help");
  assert.deepEqual(
    options.rows.map((row) => row.name),
    ["jwks", "refresh"],
  );
  assert.deepEqual(options.only, ["bare", "peer"]);
});

test("a wrong name or figure is refused with what would be right", () => {
  assert.throws(() => readOptions(["--rows", "login"]), /unknown value "login", expected discovery, jwks/);
  assert.throws(() => readOptions(["--only", "dex"]), /unknown value "dex", expected bare, peer, signet/);
  assert.throws(() => readOptions(["--rounds", "0"]), /--rounds: must be a whole number from 1 to 100/);
  assert.throws(() => readOptions(["--seconds", "1.5"]), /--seconds: must be a whole number/);
});
