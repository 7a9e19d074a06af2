/** How fast a directory brings its people in by SCIM. */
import { type Bench, noLimits } from "../bench.ts";
import { newApiClient } from "../contestants/api-client.ts";
import { cpuSeconds } from "../machine/process-cpu.ts";
import type { Row } from "../row.ts";
import { type Growing, onBothDatabases } from "../scale/on-both-databases.ts";

const COUNTS = { quick: 2_000, usual: 10_000, scale: 50_000 };
const AT_LEAST = 300;
const BULK = 1_000;

export const scimImportRow: Row = {
  name: "scim-import",
  title: "Users by SCIM, in bulk",
  grows: true,
  measure: (bench) =>
    onBothDatabases(bench, "scim-import", (growing) => measureImport(bench, growing), noLimits),
};

/** As a directory sends its people at first: a thousand in a request, one request after the other. */
async function measureImport(bench: Bench, { database, signet, pids, fill }: Growing) {
  const count = COUNTS[bench.options.size];
  const headers = await newApiClient(
    signet,
    ["connections", "users", "groups"].map((area) => `signet:${area}:write`),
  );
  const api = `http://localhost:${signet.port}/api/v1/organisations/${signet.demo.org}/connections`;
  const post = async (url: string, body: object) => {
    const json = { ...headers, "Content-Type": "application/json" };
    const answer = await fetch(url, { method: "POST", headers: json, body: JSON.stringify(body) });
    const made = (await answer.json()) as Record<string, string>;
    if (answer.status !== 201) throw new Error(`${url}: ${answer.status} ${JSON.stringify(made)}`);
    return made;
  };
  const { id, scimUrl } = await post(api, { kind: "scim", name: "Directory", enabled: true });
  const { token } = await post(`${api}/${id}/tokens`, { label: "bench" });
  // A server in use knows how many rows its tables have.
  await importUsers(`${scimUrl}/Bulk`, `Bearer ${token}`, 0);
  await fill({ kind: "analyse" });
  const began = performance.now();
  const before = cpuSeconds(pids);
  for (let first = BULK; first < BULK + count; first += BULK)
    await importUsers(`${scimUrl}/Bulk`, `Bearer ${token}`, first);
  const seconds = (performance.now() - began) / 1_000;
  const cpuMs = ((cpuSeconds(pids) - before) * 1_000) / count;
  return {
    figures: {},
    checks: [
      {
        ...{ what: `${count} users`, value: count / seconds, unit: "users/s" },
        ...(database === "sqlite" ? { bar: { atLeast: AT_LEAST } } : {}),
      },
      { what: "CPU of one", value: cpuMs, unit: "ms" },
    ],
    intervals: { seconds, cpuMs },
  };
}

async function importUsers(url: string, authorization: string, first: number): Promise<void> {
  const Operations = Array.from({ length: BULK }, (_, index) => {
    const name = `person.${first + index}@imported.example`;
    const data = {
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
      ...{ userName: name, externalId: `external-${first + index}`, active: true },
      name: { givenName: "Person", familyName: `Number ${first + index}` },
      emails: [{ value: name, type: "work", primary: true }],
    };
    return { method: "POST", path: "/Users", bulkId: `${index}`, data };
  });
  const body = JSON.stringify({ schemas: ["urn:ietf:params:scim:api:messages:2.0:BulkRequest"], Operations });
  const headers = { Authorization: authorization, "Content-Type": "application/scim+json" };
  const answer = await fetch(url, { method: "POST", headers, body });
  const { Operations: results = [] } = (await answer.json()) as { Operations?: { status: string }[] };
  const wrong = results.find(({ status }) => status !== "201");
  if (results.length !== BULK || wrong) throw new Error(`bulk: ${answer.status} ${JSON.stringify(wrong)}`);
}
