/** Documents of clients through the outbound guard: a host name that leads elsewhere the second time, or here at once. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { agentDocument, type DocumentHost, documentHost } from "../../testing/fakes/document-host.ts";
import { makeOrganisation, startTestService, type TestService } from "../../testing/test-service.ts";
import { outbound } from "../outbound/outbound.ts";
import { clientDocuments } from "./client-documents.ts";
import { setClientPolicy } from "./client-policies.ts";
import { wholePolicy } from "./client-policy.ts";

const HOST = { address: "127.0.0.1", family: 4 };
/** Nothing listens there: whoever asks for the name again goes astray. */
const ELSEWHERE = { address: "127.0.0.99", family: 4 };

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let host: DocumentHost;
  let orgId: string;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    host = await documentHost();
    ({ id: orgId } = (await makeOrganisation(running.service)).organisation);
    const content = wholePolicy({ mode: "any" });
    await setClientPolicy(running.service, { orgId, actor: "test", content });
  });
  after(async () => {
    await running.close();
    await host.close();
  });

  const serve = (name: string): string => {
    const clientId = `https://${host.host}/${name}.json`;
    host.served.set(`/${name}.json`, agentDocument(clientId));
    return clientId;
  };

  test("the document is read from the address that was checked, and the name is looked up once", async () => {
    let lookups = 0;
    const resolve = async () => (lookups++ === 0 ? [HOST] : [ELSEWHERE]);
    const guarded = outbound({ allow: [HOST.address], resolve });
    const documents = clientDocuments({ ...running.service, outbound: guarded });
    const found = await documents.resolve(orgId, serve("checked"));
    assert.ok(typeof found !== "string", String(found));
    assert.equal(lookups, 1);
    const again = await documents.resolve(orgId, serve("astray"));
    assert.equal(typeof again, "string");
    assert.ok(!host.asked.includes("/astray.json"));
  });

  test("a name that leads here, alone or among others, is not asked, nor is anything kept of it", async () => {
    for (const addresses of [[HOST], [{ address: "93.184.215.14", family: 4 }, HOST]]) {
      const guarded = outbound({ allow: [], resolve: async () => addresses });
      const documents = clientDocuments({ ...running.service, outbound: guarded });
      const clientId = serve(`private-${addresses.length}`);
      assert.equal(typeof (await documents.resolve(orgId, clientId)), "string");
      assert.equal(await running.service.applications.find(orgId, clientId), undefined);
    }
    assert.ok(!host.asked.some((path) => path.startsWith("/private")));
  });

  test("a server that is too slow, with its headers or within the document, is a fault, and nothing of it is kept", async () => {
    const guarded = outbound({ allow: [HOST.address], resolve: async () => [HOST], timeoutMs: 60 });
    const documents = clientDocuments({ ...running.service, outbound: guarded });
    const clientIds = ["mute", "stalled"].map(serve);
    host.served.set("/mute.json", () => undefined);
    host.served.set("/stalled.json", (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).write("{");
    });
    for (const clientId of clientIds) {
      assert.equal(typeof (await documents.resolve(orgId, clientId)), "string", clientId);
      assert.equal(await running.service.applications.find(orgId, clientId), undefined);
    }
    // The same client, once its server has recovered.
    const patient = clientDocuments({
      ...running.service,
      outbound: outbound({ allow: [HOST.address], resolve: async () => [HOST] }),
    });
    assert.notEqual(typeof (await patient.resolve(orgId, serve("mute"))), "string");
  });
});
