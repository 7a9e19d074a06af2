/** For organisation-isolation.test.ts: the ledger of one organisation at another one, which has a ledger too. */
import assert from "node:assert/strict";
import { signingInputHash } from "@signet/protocol/ledger/entry";
import { appendBatches } from "../../core/ledger/append.ts";
import { changeOrganisationSettings } from "../../core/organisations/organisations.ts";
import type { Service } from "../../modules/open-service.ts";
import { tokenFor } from "../fixtures/api-client.ts";
import type { TestOrganisation } from "../test-service.ts";

interface Loot {
  readonly service: Service;
  readonly a: TestOrganisation;
  readonly b: TestOrganisation;
}

/** @returns a token of A, which its ledger has */
async function fillLedgers({ service, a, b }: Loot): Promise<string> {
  for (const { organisation } of [a, b])
    await changeOrganisationSettings(service, {
      ...{ orgId: organisation.id, actor: "test", settings: { ledger: "public" } },
    });
  const [token] = [await tokenFor(a, a.batch), await tokenFor(b, b.batch)];
  const deps = { ...service, baseUrl: service.config.baseUrl };
  for (const { organisation } of [a, b]) await appendBatches(deps, organisation.id);
  return token;
}

const read = async ({ issuer, organisation }: TestOrganisation, path: string) => {
  const answer = await fetch(`${new URL(issuer).origin}/ledger/${organisation.id}${path}`);
  return { status: answer.status, text: await answer.text() };
};

const own =
  (path: string) =>
  async (loot: Loot): Promise<void> => {
    await fillLedgers(loot);
    const [ofA, ofB] = [await read(loot.a, path), await read(loot.b, path)];
    assert.deepEqual([ofA.status, ofB.status], [200, 200]);
    assert.notEqual(ofA.text, ofB.text);
  };

export const ledgerProbes = {
  "GET /ledger/:org/checkpoint": own("/checkpoint"),
  "GET /ledger/:org/key": own("/key"),
  "GET /ledger/:org/tile/*": own("/tile/0/000.p/1"),
  "GET /ledger/:org/proof": async (loot: Loot): Promise<void> => {
    const path = `/proof?sha256=${signingInputHash(await fillLedgers(loot))}`;
    assert.equal((await read(loot.a, path)).status, 200);
    assert.equal((await read(loot.b, path)).status, 404);
  },
};
