/** A journal beside the ledger: what is in no ledger is missed by nobody, what belongs there is. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { compareJournals, readJournals } from "./compare-journals.ts";

const time = "2026-11-29T00:00:10.000Z";
const at = Date.parse(time) / 1_000;

test("tokens that are not in the ledger are missed, answers to introspection and userinfo are not", async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-journal-"));
  t.after(() => rm(folder, { recursive: true }));
  const entry = (event: string, use: string) =>
    JSON.stringify({ event, use, kid: "key", inputSha256: `${event} ${use}`, time });
  const uses = ["access_token", "id_token", "authorization_response", "id_jag"];
  const answers = ["introspection_response", "userinfo_response"];
  const lines = ["signed", "approved"].flatMap((event) =>
    [...uses, ...answers].map((use) => entry(event, use)),
  );
  const file = path.join(folder, "journal");
  await writeFile(file, `${lines.join("\n")}\n`);
  const found = compareJournals(await readJournals([file]), [], { from: at - 1, until: at + 1 });
  assert.deepEqual(
    found.missing,
    uses.map((use) => `signed ${use}`),
  );
  assert.deepEqual(
    found.unsigned,
    uses.map((use) => `approved ${use}`),
  );
});
