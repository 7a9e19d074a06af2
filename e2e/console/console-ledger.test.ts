/** What an administrator does with the ledger of signatures, by keyboard alone, in real Chromium (issue 27). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { signingInputHash } from "@signet/protocol/ledger/entry";
import { createApplication } from "../../packages/server/src/core/applications/applications.ts";
import { createClientSecret } from "../../packages/server/src/core/applications/client-secrets.ts";
import { appendBatches } from "../../packages/server/src/core/ledger/append.ts";
import { listWitnesses } from "../../packages/server/src/core/ledger/witnesses.store.ts";
import { newWitnessKey } from "../../packages/server/src/testing/fixtures/ledger-witness.ts";
import { choose, enter, isReady, type } from "../support/hand.ts";
import { doneText, journeys } from "./console-journey.ts";

const { fixture, service, visitor, assertAllSent } = journeys();

/** Of a program, by the token endpoint. */
async function newToken(): Promise<string> {
  const { orgId, baseUrl } = fixture();
  const settings = { grantTypes: ["client_credentials"] as const };
  const named = { name: "Nightly report", clientType: "confidential", actor: "operator" } as const;
  const application = await createApplication(service(), { orgId, ...named, settings });
  const { plaintext } = await createClientSecret(service(), {
    ...{ orgId, applicationId: application.id, label: "", expiresAt: null, actor: "operator" },
  });
  const answer = await fetch(`${baseUrl}/oauth/${orgId}/token`, {
    method: "POST",
    body: new URLSearchParams({
      ...{ grant_type: "client_credentials", client_id: application.id, client_secret: plaintext },
    }),
  });
  const { access_token: token } = (await answer.json()) as { access_token?: string };
  assert.ok(token, `no token: ${answer.status}`);
  return token;
}

test("switches the ledger on, finds a token in it, and adds and removes a witness", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const { orgId } = fixture();
  const [planted] = await listWitnesses(service().database.query, orgId);
  await visit.open("/ledger");
  await visit.look("Ledger");
  await enter(page, "ledger-settings");
  await choose(page, "ledger", "public");
  await type(page, "ledgerWitnessQuorum", "99");
  await enter(page, "ledger-save");
  await page.locator("#ledgerWitnessQuorum[aria-invalid=true]").waitFor();
  await visit.look("Ledger settings");
  await type(page, "ledgerWitnessQuorum", "1");
  await enter(page, "ledger-save");
  assert.equal(await doneText(page), "Ledger settings saved.");
  assert.equal(await page.locator("#ledger-mode").innerText(), "Everyone");

  const token = await newToken();
  const search = async (text: string) => {
    await type(page, "token", text);
    await enter(page, "ledger-search-submit");
  };
  await search("nothing of the kind");
  await page.locator("#token[aria-invalid=true]").waitFor();
  await search(token);
  await page.getByText("No such signature is in the ledger").waitFor();
  assert.equal(await page.locator("#ledger-hash").innerText(), signingInputHash(token));
  assert.ok(!(await page.content()).includes(token), "a token is never shown again");
  const { baseUrl } = service().config;
  await appendBatches({ ...service(), baseUrl }, orgId);
  await search(token);
  await page.getByText("In the ledger, not witnessed yet").waitFor();

  await enter(page, `witness-remove-${planted?.id}`);
  await enter(page, "witness-remove-confirm");
  assert.equal(await doneText(page), "Witness removed.");
  await search(signingInputHash(token));
  await page.getByText("The signature is in the ledger").waitFor();
  assert.match(await page.locator("#ledger-result").innerText(), /Access token/);
  await visit.look("Ledger");
  assert.match(
    await page.locator("#ledger-monitor").innerText(),
    /^signet ledger monitor \\\n {2}--url .* \\\n {2}--key '/,
  );

  await enter(page, "witness-add");
  await isReady(page, "url");
  await type(page, "url", "https://witness.example");
  await type(page, "verifierKey", "witness.example+1234");
  await enter(page, "witness-save");
  await page.locator("#verifierKey[aria-invalid=true]").waitFor();
  await visit.look("Add witness");
  const key = newWitnessKey("witness.example");
  await type(page, "verifierKey", key);
  await enter(page, "witness-save");
  assert.equal(await doneText(page), "Witness added.");
  const witnesses = await listWitnesses(service().database.query, orgId);
  assert.deepEqual(
    witnesses.map(({ verifierKey }) => verifierKey),
    [key],
  );
});

test("every form of the ledger was submitted", () => {
  assertAllSent("ledger");
});
