/** Client certificate authorities by the command line. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";

forEachDatabase(({ fresh }) => {
  let settings: OperatorSettings;
  let folder: string;
  let org: string;
  before(async () => {
    settings = await operatorSettings(await fresh());
    org = (await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], settings.env)).id;
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-ca-"));
  });
  after(async () => {
    await settings.remove();
    await rm(folder, { recursive: true });
  });
  const words = (command: string, ...args: string[]) => [
    ...["client-certificate-authority", command, ...args, "--org", org],
  ];
  const json = (command: string, ...args: string[]) => runForJson(words(command, ...args), settings.env);
  const run = (command: string, ...args: string[]) => runInProcess(words(command, ...args), settings.env);
  const fileOf = async (name: string, text: string) => {
    const file = path.join(folder, name);
    await writeFile(file, text);
    return ["--name", "Partner CA", "--certificate", file];
  };

  test("are added, shown, listed and deleted", async () => {
    assert.match((await run("list")).out, /There are none yet/);
    const { pem } = testCertificate({ subject: "Partner", isCa: true });
    const made = await json("create", ...(await fileOf("ca.pem", pem)));
    assert.deepEqual(
      [made["name"], made["enabled"], made["subject"], made["certificate"]],
      ["Partner CA", true, "CN=Partner", pem],
    );
    const id = String(made["id"]);
    assert.deepEqual(await json("show", id), made);
    assert.match((await run("list")).out, /Partner CA.*CN=Partner/);
    const again = await run("create", ...(await fileOf("ca.pem", pem)));
    assert.equal(again.code, 1);
    assert.match(again.err, /has this certificate already/);
    assert.equal((await run("delete", id, "--yes")).code, 0);
    assert.equal((await run("delete", id, "--yes")).code, 1);
    assert.match((await run("list")).out, /There are none yet/);
  });

  test("refuse what is no authority, and a private key", async () => {
    const leaf = testCertificate({ subject: "Leaf" });
    const refused = await run("create", ...(await fileOf("leaf.pem", leaf.pem)));
    assert.match(refused.err, /is not a certificate authority/);
    const ca = testCertificate({ subject: "CA", isCa: true });
    const key = ca.privateKey.export({ format: "pem", type: "pkcs8" });
    const both = await run("create", ...(await fileOf("both.pem", `${ca.pem}${key}`)));
    assert.match(both.err, /the private key you sent is compromised/);
    assert.equal((await run("create", "--name", "x", "--certificate", path.join(folder, "none"))).code, 1);
  });
});
