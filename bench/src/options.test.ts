import assert from "node:assert/strict";
import { test } from "node:test";
import { readOptions } from "./options.ts";
import { rows } from "./rows.ts";

test("without options every row is measured, at its usual size, in five rounds of two seconds", () => {
  const options = readOptions([]);
  assert.ok(options !== "help");
  assert.deepEqual(options.rows, rows);
  assert.equal(options.size, "usual");
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
  assert.throws(
    () => readOptions(["--rows", "sign-in"]),
    /unknown value "sign-in", expected discovery, jwks/,
  );
  assert.throws(() => readOptions(["--only", "dex"]), /unknown value "dex", expected bare, peer, signet/);
  assert.throws(() => readOptions(["--rounds", "0"]), /--rounds: must be a whole number from 1 to 100/);
  assert.throws(() => readOptions(["--seconds", "0"]), /--seconds: must be a number from 0.1 to 60/);
});

test("a quick run is short, and one at full size has only the rows that grow", () => {
  const quick = readOptions(["--quick", "--rounds", "3"]);
  assert.ok(quick !== "help");
  assert.deepEqual([quick.size, quick.rounds, quick.seconds], ["quick", 3, 0.4]);
  const scale = readOptions(["--scale"]);
  assert.ok(scale !== "help");
  assert.equal(scale.size, "scale");
  assert.ok(scale.rows.every(({ grows }) => grows));
  assert.throws(() => readOptions(["--quick", "--scale"]), /one of them/);
});
