import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { repositoryRoot } from "../source-files.ts";
import { billOfMaterials } from "./bill-of-materials.ts";
import { licencesOf } from "./licences.ts";
import { type Lock, neededPackages, shrinkwrapOf } from "./shrinkwrap.ts";

const entry = (version: string, more = {}) => ({
  version,
  license: "MIT",
  integrity: "sha512-AAEC",
  ...more,
});
const lock: Lock = {
  packages: {
    "packages/server": { version: "2.0.0" },
    "packages/server/node_modules/pino": entry("9.0.0"),
    "node_modules/pino": entry("10.0.0", { dev: true }),
    "node_modules/pg": entry("8.0.0", { dev: true, dependencies: { "pg-types": "^4.0.0" } }),
    "node_modules/pg-types": entry("2.0.0"),
    "node_modules/pg/node_modules/pg-types": entry("4.0.0", { resolved: "https://registry.example/x.tgz" }),
    "node_modules/@node-rs/argon2": entry("2.2.1", {
      optionalDependencies: { "@node-rs/argon2-linux": "2.2.1", absent: "1" },
    }),
    "node_modules/@node-rs/argon2-linux": entry("2.2.1", {
      license: "(MIT OR Apache-2.0)",
      optional: true,
      os: ["linux"],
    }),
    "node_modules/typescript": entry("7.0.2", { dev: true }),
  },
};
const manifest = {
  name: "@signet/server",
  version: "2.0.0",
  license: "Apache-2.0",
  bin: { signet: "./signet.cjs" },
  dependencies: { "@signet/protocol": "2.0.0", "@node-rs/argon2": "2.2.1", pg: "8.0.0", pino: "9.0.0" },
  bundleDependencies: ["@signet/protocol"],
};
const names = ["@node-rs/argon2", "pg", "pino"];

test("the shrinkwrap has what the program needs, where Node finds it, and nothing of this machine", () => {
  const { packages } = shrinkwrapOf(lock, "packages/server", manifest);
  assert.deepEqual(Object.keys(packages), [
    "",
    "node_modules/@node-rs/argon2",
    "node_modules/@node-rs/argon2-linux",
    "node_modules/@signet/protocol",
    "node_modules/pg",
    "node_modules/pg/node_modules/pg-types",
    "node_modules/pino",
  ]);
  assert.equal(packages["node_modules/pino"]?.version, "9.0.0");
  assert.deepEqual(packages["node_modules/@signet/protocol"], { version: "2.0.0", inBundle: true });
  assert.equal(packages["node_modules/@node-rs/argon2-linux"]?.optional, true);
  assert.ok(!("optional" in (packages["node_modules/@node-rs/argon2"] ?? {})));
  assert.doesNotMatch(JSON.stringify(packages), /"dev"|resolved|registry/);
});

test("what is missing in the lock file, or would stand in one place twice, ends the build", () => {
  assert.throws(
    () => neededPackages(lock, "packages/server", ["left-pad"]),
    /no left-pad for packages\/server/,
  );
  const clash = { ...manifest, dependencies: { ...manifest.dependencies, other: "1.0.0" } };
  const packages = {
    ...lock.packages,
    "node_modules/other": entry("1.0.0", { dependencies: { pino: "10" } }),
  };
  assert.throws(() => shrinkwrapOf({ packages }, "packages/server", clash), /two versions/);
});

test("the bill of materials names every package with its licence and checksum, in the same bytes each time", () => {
  const bill = () => billOfMaterials(lock, manifest, neededPackages(lock, "packages/server", names));
  assert.deepEqual(bill(), bill());
  const { components, metadata } = bill() as {
    components: Array<Record<string, unknown>>;
    metadata: { component: Record<string, unknown> };
  };
  assert.equal(metadata.component["purl"], "pkg:npm/%40signet/server@2.0.0");
  assert.equal(metadata.component["type"], "application");
  const linux = components.find(({ name }) => name === "argon2-linux");
  assert.deepEqual(linux, {
    type: "library",
    "bom-ref": "pkg:npm/%40node-rs/argon2-linux@2.2.1",
    group: "@node-rs",
    name: "argon2-linux",
    version: "2.2.1",
    licenses: [{ expression: "(MIT OR Apache-2.0)" }],
    hashes: [{ alg: "SHA-512", content: "000102" }],
    purl: "pkg:npm/%40node-rs/argon2-linux@2.2.1",
    scope: "optional",
  });
  assert.deepEqual(
    components.map(({ purl }) => purl),
    [
      "pkg:npm/%40node-rs/argon2-linux@2.2.1",
      "pkg:npm/%40node-rs/argon2@2.2.1",
      "pkg:npm/%40signet/protocol@2.0.0",
      "pkg:npm/pg-types@4.0.0",
      "pkg:npm/pg@8.0.0",
      "pkg:npm/pino@9.0.0",
    ],
  );
});

test("the licences' texts are there in full, and a package without one ends the build", async (t) => {
  const root = await mkdtemp(path.join(os.tmpdir(), "signet-licences-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  await mkdir(path.join(root, "node_modules/pg"), { recursive: true });
  await writeFile(path.join(root, "node_modules/pg/LICENSE"), "Permission is hereby granted\n");
  const text = await licencesOf(lock, root, ["node_modules/pino", "node_modules/pg"]);
  assert.match(text, /pg 8\.0\.0\nLicence: MIT\n\nPermission is hereby granted\n/);
  assert.match(text, /pino 10\.0\.0\nLicence: MIT\n/);
  const packages = { "node_modules/pg": { version: "8.0.0" } };
  await assert.rejects(licencesOf({ packages }, root, ["node_modules/pg"]), /pg 8\.0\.0 has no licence/);
});

test("every package that a built one would need is in the lock file with licence and checksum", async () => {
  const real = JSON.parse(await readFile(path.join(repositoryRoot, "package-lock.json"), "utf8")) as Lock;
  for (const folder of ["server", "signing-agent", "device-client", "client-sdk", "protocol"]) {
    const file = path.join(repositoryRoot, "packages", folder, "package.json");
    const { dependencies = {} } = JSON.parse(await readFile(file, "utf8")) as {
      dependencies?: Record<string, string>;
    };
    for (const [name, version] of Object.entries(dependencies))
      assert.match(version, /^\d+\.\d+\.\d+$/, name);
    const others = Object.keys(dependencies).filter((name) => !name.startsWith("@signet/"));
    for (const { place } of neededPackages(real, `packages/${folder}`, others)) {
      assert.ok(real.packages[place]?.["integrity"], place);
      assert.ok(real.packages[place]?.license, place);
      assert.equal(real.packages[place]?.["resolved"], undefined, place);
    }
  }
});
