import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { newAgentKey, signedWith, type TestAgentKey } from "../../testing/fixtures/agent.ts";
import { assertListed } from "../../testing/probes/written-actions.ts";

interface Pool {
  readonly poolId: string;
  readonly issuer: string;
  readonly algs: readonly string[];
  readonly disabledAt: string | null;
  readonly keys: ReadonlyArray<{ readonly kid: string; readonly state: string }>;
}

interface Agent {
  readonly agentId: string;
  readonly apiKey: string;
  readonly compromisedAt: string | null;
  readonly deactivatedAt: string | null;
  readonly keys: ReadonlyArray<{ readonly kid: string; readonly state: string }>;
}

describe("signet pool, signet agent", () => {
  forEachDatabase(({ fresh }) => {
    let settings: OperatorSettings;
    let folder: string;
    let org: string;
    let files = 0;
    const json = <Answer>(...args: string[]) => runForJson<Answer>([...args, "--org", org], settings.env);
    const typed = (...args: string[]) => runInProcess([...args, "--org", org], settings.env);
    const makePool = (...more: string[]) => json<Pool>("pool", "create", "--name", "HQ", ...more);
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

    const write = async (content: unknown): Promise<string> => {
      const path = join(folder, `file-${files++}`);
      await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
      return path;
    };
    const presented = ({ issuer }: Pool, key: TestAgentKey) => {
      const proof = { aud: issuer, jkt: key.kid, iat: Math.floor(Date.now() / 1000) };
      const header = { alg: key.alg, typ: "sovereign-pop+jwt" };
      return { jwk: key.publicJwk, pop: signedWith(key, `${encoded(header)}.${encoded(proof)}`) };
    };
    const register = async (pool: Pool, key = newAgentKey("ES256")) => {
      const file = await write([presented(pool, key)]);
      const args = ["--pool", pool.poolId, "--name", "agent-1", "--keys", file];
      return { key, agent: await json<Agent>("agent", "register", ...args) };
    };

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "signet-pools-"));
      settings = await operatorSettings(await fresh());
      org = (await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], settings.env)).id;
    });
    after(async () => {
      await settings.remove();
      await rm(folder, { recursive: true, force: true });
    });

    test("creates, lists, shows, disables and enables a pool", async () => {
      assert.match((await typed("pool", "list")).out, /no signing pools yet/);
      const pool = await makePool("--alg", "ES256", "--alg", "eddsa", "--max-token-lifetime", "15m");
      assert.deepEqual(pool.algs, ["ES256", "EdDSA"]);
      assert.ok(pool.issuer.endsWith(`/oauth/${org}/sovereign/pools/${pool.poolId}`));
      const shown = await typed("pool", "show", pool.poolId);
      assert.match(shown.out, /^maxTokenLifetimeSeconds +900$/m);
      assert.match(shown.out, /No keys yet/);
      assert.match((await typed("pool", "disable", pool.poolId)).out, /is now disabled/);
      assert.match((await typed("pool", "disable", pool.poolId)).out, /already/);
      assert.match((await typed("pool", "list")).out, new RegExp(`^${pool.poolId} .*disabled$`, "m"));
      assert.match((await typed("pool", "enable", pool.poolId)).out, /is now enabled/);
    });

    test("rejects invalid pool settings", async () => {
      const before = await json<{ items: Pool[] }>("pool", "list");
      const wrong: ReadonlyArray<readonly [string[], RegExp, number]> = [
        [["--alg", "HS256"], /--alg must be one of/, 2],
        [["--max-token-lifetime", "30s"], /maxTokenLifetimeSeconds/, 1],
        [["--issuer-mode", "x"], /--issuer-mode must be one of/, 2],
        [["--require-x5c"], /trustedRoots/, 1],
        [["--trusted-root", await write("x")], /trustedRoots\[0\]/, 1],
        [["--trusted-root", join(folder, "none")], /--trusted-root/, 1],
      ];
      for (const [args, message, code] of wrong) {
        const ended = await typed("pool", "create", "--name", "x", ...args);
        assert.equal(ended.code, code, ended.err);
        assert.match(ended.err, message);
      }
      assert.deepEqual(await json("pool", "list"), before);
      const root = await write(testCertificate({ subject: "Root", isCa: true }).pem);
      assert.equal((await makePool("--trusted-root", root, "--require-x5c")).keys, undefined);
    });

    test("registers an agent from a file, shows the API key once, and adds a key", async () => {
      const pool = await makePool();
      const { agent, key } = await register(pool);
      assert.match(agent.apiKey, /^sgn_ak_/);
      assert.deepEqual(
        agent.keys.map(({ kid, state }) => [kid, state]),
        [[key.kid, "active"]],
      );
      const listed = await typed("agent", "list", "--pool", pool.poolId);
      assert.match(listed.out, new RegExp(`^${agent.agentId} +agent-1 .*working +never$`, "m"));
      assert.ok(!listed.out.includes(agent.apiKey));
      const next = newAgentKey("ES256");
      const file = await write({ keys: [presented(pool, next)] });
      const added = await json<Agent>("agent", "add-key", agent.agentId, "--keys", file);
      assert.deepEqual(
        added.keys.map(({ state }) => state),
        ["published"],
      );
      const { keys } = await json<Pool>("pool", "show", pool.poolId);
      assert.deepEqual(new Set(keys.map(({ kid }) => kid)), new Set([key.kid, next.kid]));
    });

    test("deactivates an agent, and removes compromised keys from the JWKS", async () => {
      const pool = await makePool();
      const { agent } = await register(pool);
      assert.match((await typed("agent", "deactivate", agent.agentId)).out, /Deactivated/);
      assert.match((await typed("agent", "list")).out, new RegExp(`^${agent.agentId} .*deactivated`, "m"));
      const ended = await json<Agent>("agent", "compromise", agent.agentId);
      assert.notEqual(ended.compromisedAt, null);
      const { keys } = await json<Pool>("pool", "show", pool.poolId);
      assert.deepEqual(
        keys.map(({ state }) => state),
        ["compromised"],
      );
    });

    test("rejects a file without keys, naming it", async () => {
      const pool = await makePool();
      for (const content of ["x", [], {}, [{ jwk: {} }], [{ jwk: {}, pop: "x", x5c: "y" }]]) {
        const file = await write(content);
        const args = ["--pool", pool.poolId, "--name", "x", "--keys", file];
        const ended = await typed("agent", "register", ...args);
        assert.equal(ended.code, 1);
        assert.ok(ended.err.includes(file), ended.err);
      }
      const { privateKey } = newAgentKey("ES256");
      const file = await write([{ jwk: privateKey.export({ format: "jwk" }), pop: "x" }]);
      const ended = await typed("agent", "register", "--pool", pool.poolId, "--name", "x", "--keys", file);
      assert.match(ended.err, /private members/);
    });

    test("accepts only a signing pool of the same organisation", async () => {
      const pool = await makePool();
      const make = (...more: string[]) =>
        typed(
          "app",
          "create",
          "--name",
          "Batch",
          "--type",
          "confidential",
          "--grant",
          "client_credentials",
          ...more,
        );
      assert.equal((await make("--signing-pool", pool.poolId.toUpperCase())).code, 0);
      const unknown = await make("--signing-pool", org);
      assert.equal(unknown.code, 1);
      assert.match(unknown.err, /--signing-pool: names no signing pool/);
      assert.match((await make("--signing-pool", "x")).err, /must be the id of a signing pool/);
      const text = (await typed("org", "export")).out;
      assert.match(text, new RegExp(`"signingPoolId": "${pool.poolId}"`));
      assert.ok(!/sgn_ak_|"agents"|api_?key/i.test(text), "never agents");
      const file = await write(text);
      const same = await typed("org", "apply", "--file", file, "--dry-run");
      assert.equal(same.code, 0, same.err + same.out);
      const other = (await runForJson<{ id: string }>(["org", "create", "--name", "B"], settings.env)).id;
      const args = ["org", "apply", "--org", other, "--file", file, "--dry-run"];
      const refused = await runInProcess(args, settings.env);
      assert.equal(refused.code, 1);
      assert.match(refused.err + refused.out, /applications\/0\/signingPoolId:? names no signing pool/);
    });

    test("audits every change with the operator as actor", () =>
      assertListed(settings.env, org, "signing-pool.disabled", "signing-pool.enabled"));
  });
});
