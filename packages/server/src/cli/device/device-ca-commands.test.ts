import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { after, before, describe, test } from "node:test";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";

interface Shown {
  readonly generation: number;
  readonly state: string;
  readonly notAfter: string;
  readonly retiredAt: string | null;
  readonly fingerprint: string;
  readonly crl: string;
  readonly certificate: string;
}

describe("signet device-ca", () => {
  forEachDatabase(({ fresh }) => {
    let settings: OperatorSettings;
    let org: string;
    let issuer: string;
    const shown = () =>
      runForJson<{ ca: string; generations: Shown[] }>(["device-ca", "show", "--org", org], settings.env);
    before(async () => {
      settings = await operatorSettings(await fresh());
      const made = await runForJson<{ id: string; issuer: string }>(
        ["org", "create", "--name", "Acme"],
        settings.env,
      );
      [org, issuer] = [made.id, made.issuer];
    });
    after(() => settings.remove());

    test("creates the first device CA with the organisation", async () => {
      const { ca, generations } = await shown();
      assert.equal(ca, `${issuer}/devices/ca.pem`);
      assert.deepEqual(
        generations.map(({ generation, state, retiredAt, crl }) => [generation, state, retiredAt, crl]),
        [[1, "issues", null, `${issuer}/devices/ca.crl?generation=1`]],
      );
      const [first] = generations;
      assert.equal(new X509Certificate(first?.certificate ?? "").fingerprint256, first?.fingerprint);
      assert.match(
        (await runInProcess(["device-ca", "show", "--org", org], settings.env)).out,
        /^1 +issues +20/m,
      );
    });

    test("keeps the old generation until its last certificate has expired", async () => {
      const { out } = await runInProcess(["device-ca", "rotate", "--org", org], settings.env);
      assert.match(out, /^generation +2$/m);
      assert.ok(out.includes(`${issuer}/devices/ca.pem`));
      const { generations } = await shown();
      assert.deepEqual(
        generations.map(({ generation, state }) => [generation, state]),
        [
          [2, "issues"],
          [1, "retired"],
        ],
      );
      assert.ok(generations[1]?.retiredAt);
    });

    test("rejects an unknown organisation", async () => {
      const { code, err } = await runInProcess(["device-ca", "show", "--org", "nobody"], settings.env);
      assert.equal(code, 1);
      assert.match(err, /there is no organisation "nobody"/);
    });
  });
});
