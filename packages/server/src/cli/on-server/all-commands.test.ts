/** Where SIGNET_SERVER names a server, no command works on the database: each asks the server, or says why it can't. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { runInProcess } from "../../testing/command-line.ts";
import { type Command, optionsOf } from "../command.ts";
import { commands } from "../run.ts";
import { namesOnlyHere, namesOnServer } from "./commands-on-server.ts";

const id = "01998d6e-0000-7000-8000-000000000000";
/** It is the server. */
const isServer = ({ name }: Command): boolean => name === "start" || name === "dev";
const isRemote = (command: Command): boolean =>
  "runByApi" in command || "runRemotely" in command || command.atServer !== undefined;

let folder: string;
let server: Server;
let url: string;
let asked: string[] = [];

before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-all-"));
  await writeFile(path.join(folder, "users"), '{"email":"ada@acme.example"}\n');
  await writeFile(path.join(folder, "config"), "{}");
  await writeFile(path.join(folder, "people"), "[]");
  await writeFile(path.join(folder, "keys"), JSON.stringify([{ jwk: { kty: "EC" }, x5c: [], pop: "x" }]));
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(403, { "content-type": "application/problem+json" });
    response.end(JSON.stringify({ type: "urn:signet:error:insufficient-scope", title: "No" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

/** Neither a database nor a key: those that are named are not there. */
const env = () => ({
  ...{ XDG_CONFIG_HOME: folder, SIGNET_DATA_DIR: path.join(folder, "none") },
  DATABASE_URL: `sqlite:${folder}/nowhere/none.db`,
});

const dummies: Readonly<Record<string, string>> = {
  ...{ org: id, app: id, id, pool: id, key: "shop-admin", name: "Shop", type: "confidential" },
  ...{ email: "ada@acme.example", "new-email": "ada@lovelace.example", "display-name": "Pay" },
  ...{ connection: id, domain: "acme.example" },
  ...{ url: "https://app.example/hooks", webhook: id, from: "2026-01-01T00:00:00Z" },
  ...{ template: "Pay {amount}", kind: "workload", issuer: "https://issuer.example" },
  ...{ "client-id": id, target: "https://billing.example" },
  ...{
    identifier: "https://api.example",
    "forward-to": "http://localhost:3000/",
    access: "assigned",
    scope: "openid",
    permission: "invoice:read",
  },
};

/** They look at a ledger where its address says, as anybody outside can: there is no server to ask for it. */
const byAddress = ["ledger verify", "ledger monitor"];

/** What a command needs that no single option of it is required for. */
const more: Readonly<Record<string, readonly string[]>> = {
  "group update": ["--name", "x"],
  "group add": ["--user", id],
  "group remove": ["--user", id],
  "token-exchange-policy create": ["--scope", "profile"],
  "webhook create": ["--event", "user.*"],
  "webhook update": ["--disable"],
  "portal-link create": ["--purpose", "connections"],
  "shared-application enable": ["--scope", "openid"],
  "sign-up set": ["--mode", "open"],
  // Only where there is a database does it know the only organisation.
  listen: ["--org", id],
  "client-id-metadata-policy set": ["--mode", "off"],
  "sign-in set": ["--passkey-enrolment", "offer"],
  "connection create": ["--kind", "scim"],
  "connection update": ["--enable"],
  "domain update": ["--enforce"],
  "invitation create": ["--no-email"],
  "role update": ["--name", "x"],
  "role assign": ["--user", id],
  "role unassign": ["--user", id],
  "app update": ["--name", "x"],
  "account update": ["--name", "x"],
  "org set": ["--name", "x"],
  "org delete": ["--yes"],
  "device-policy set": ["--attestation", "none"],
  "user set-profile": ["--nickname", "x"],
  "user create": ["--generate"],
  "user set-password": ["--generate"],
  "scope update": ["--sensitive"],
  "config apply": ["--yes"],
  "org apply": ["--yes"],
  "user import": ["--format", "jsonl"],
  "audit export": ["--format", "csv"],
  login: ["--org", id],
};

function positionalOf({ name }: Command): string {
  if (/^(device-roots|ek-allow) remove$/.test(name)) return "ab".repeat(32);
  return /^(device-roots import|ek-allow add)$/.test(name) ? path.join(folder, "config") : id;
}

const fileNames: Readonly<Record<string, string>> = { "user import": "users", "invitation batch": "people" };

function lineOf(command: Command): string[] {
  const options = optionsOf(command);
  const needsUser = options["id"] !== undefined && options["email"] !== undefined;
  const required = Object.entries(options).filter(
    ([, { required: is, requiredWithout }]) => is || requiredWithout !== undefined,
  );
  const files: Readonly<Record<string, string>> = {
    file: path.join(folder, fileNames[command.name] ?? "config"),
    keys: path.join(folder, "keys"),
    certificate: path.join(folder, "config"),
    schema: path.join(folder, "config"),
  };
  const given = required
    .filter(([name]) => name !== "format")
    .flatMap(([name]) => [`--${name}`, files[name] ?? dummies[name] ?? assert.fail(`--${name}`)]);
  const positional = command.positionals === undefined ? [] : [positionalOf(command)];
  const ofApplication = options["app"] !== undefined && positional.length === 0 && !given.includes("--app");
  return [
    ...[...command.name.split(" "), ...positional, ...given, ...(more[command.name] ?? [])],
    ...(needsUser && !given.includes("--email") ? ["--id", id] : []),
    ...(ofApplication && command.name.startsWith("app ") ? ["--app", id] : []),
  ];
}

test("each name of the two tables is a command that works on the database", () => {
  const known = commands
    .filter((one) => !("runByApi" in one || "runRemotely" in one))
    .map(({ name }) => name);
  for (const name of [...namesOnServer, ...namesOnlyHere]) assert.ok(known.includes(name), name);
});

test("each command has its way to a server, or refuses", () => {
  const neither = commands.filter((one) => !isServer(one) && isRemote(one) === (one.onlyHere !== undefined));
  assert.deepEqual(
    neither.map(({ name }) => name),
    [],
  );
});

test("a command that needs the database refuses with one sentence, by the option and by the environment", async () => {
  const refusing = commands.filter(({ onlyHere }) => onlyHere !== undefined);
  assert.ok(refusing.length > 5);
  for (const { name } of refusing)
    for (const [args, more] of [
      [["--server", url], {}],
      [[], { SIGNET_SERVER: url }],
      [["--server", url, "--token", "t"], {}],
    ] as const) {
      const { code, out, err } = await runInProcess([...name.split(" "), ...args], { ...env(), ...more });
      assert.deepEqual([code, out], [2, ""], `${name}: ${err}`);
      assert.match(
        err,
        /: run it where the server runs, without --server and SIGNET_SERVER\nSee: .*\n$/,
        name,
      );
    }
});

test("every other command asks the server and nothing else", async () => {
  const remote = commands.filter(
    (one) => isRemote(one) && one.name !== "logout" && !byAddress.includes(one.name),
  );
  for (const command of remote) {
    asked = [];
    const line = lineOf(command);
    const token = "token" in optionsOf(command) ? ["--token", "t"] : [];
    const { code, out, err } = await runInProcess([...line, "--server", url, ...token], env());
    assert.deepEqual([code, out], [1, ""], `${line.join(" ")}: ${err}`);
    assert.ok(asked.length > 0, `${line.join(" ")}: ${err}`);
    assert.ok(
      asked.every((one) => / \/(api\/v1|oauth)\b/.test(one)),
      asked.join(),
    );
  }
});
