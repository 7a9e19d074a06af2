/**
 * MCP: the guide (docs/mcp.md) is followed literally, and an unmodified client of the MCP SDK signs a person in at the example server
 * with nothing registered: by its metadata document, and by registering itself.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { type OAuthClientProvider, UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import type { FetchLike, Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { filled, filledEnvironment, readReadme } from "../../guides/support/readme.ts";
import { runForJson } from "../../packages/server/src/testing/command-line.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { testBrowser } from "../../packages/server/src/testing/fakes/browser.ts";
import {
  agentDocument,
  type DocumentHost,
  documentHost,
} from "../../packages/server/src/testing/fakes/document-host.ts";
import { makeApiClient } from "../../packages/server/src/testing/fixtures/api-client.ts";
import { follow, logIn, showsLogin } from "../../packages/server/src/testing/fixtures/visit.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { nodeEnvironment } from "../../packages/server/src/testing/node-environment.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";

const REDIRECT = "http://127.0.0.1:33418/callback";
const file = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

let running: TestService;
let org: TestOrganisation;
let host: DocumentHost;
let mcp: string;
let initialAccessToken: string;
let stopServer: () => Promise<void>;

before(async () => {
  host = await documentHost();
  const env = { SIGNET_OUTBOUND_ALLOW: "localhost" };
  running = await startTestService({ databaseUrl: "sqlite::memory:", env });
  org = await makeOrganisation(running.service);
  mcp = `http://127.0.0.1:${await freePort()}/mcp`;
  const guide = readReadme(
    (await readFile(file("docs/mcp.md"), "utf8")).replaceAll("http://127.0.0.1:8775/mcp", mcp),
  );
  const { accessToken } = await makeApiClient(running.service, org, ["signet:applications:write"]);
  const at = ["--server", running.baseUrl, "--token", accessToken];
  assert.equal(guide.commands.length, 5);
  let resourceId = "";
  for (const command of guide.commands) {
    const said = await runForJson([...filled(command, { ORG: org.organisation.id }), ...at], {});
    if (command[0] === "resource") resourceId = String(said["id"]);
    if (command[0] === "initial-access-token") initialAccessToken = String(said["token"]);
  }
  const environment = filledEnvironment(guide.environment, {
    "Signet's address": running.baseUrl,
    "organisation ID": org.organisation.id,
    "resource ID": resourceId,
  });
  stopServer = await startServer(parseEnv(environment) as Record<string, string>);
});
after(async () => {
  await stopServer?.();
  await host.close();
  await running.close();
  assert.deepEqual(running.errors, []);
});

async function startServer(env: Record<string, string>): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, [file("examples/mcp-server/server.ts")], {
    env: { ...nodeEnvironment(), ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = once(child, "close");
  await eventually("the MCP server answers", async () => {
    assert.equal(child.exitCode, null, "it has ended");
    const answer = await fetch(mcp, { method: "POST" }).catch(() => undefined);
    await answer?.body?.cancel();
    return answer?.status === 401;
  });
  return async () => {
    child.kill();
    await ended;
  };
}

/** What an MCP client keeps, and a browser of the person's. */
interface Agent {
  readonly provider: OAuthClientProvider;
  readonly asked: URL[];
  readonly transport: () => StreamableHTTPClientTransport;
}

function agent({ clientMetadataUrl, fetch }: { clientMetadataUrl?: string; fetch?: FetchLike } = {}): Agent {
  let information: OAuthClientInformationMixed | undefined;
  let tokens: OAuthTokens | undefined;
  let verifier = "";
  const asked: URL[] = [];
  const provider: OAuthClientProvider = {
    redirectUrl: REDIRECT,
    clientMetadata: {
      ...{ client_name: "Desktop agent", redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" },
      grant_types: ["authorization_code", "refresh_token"],
    },
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
    clientInformation: () => information,
    saveClientInformation: (registered) => {
      information = registered;
    },
    tokens: () => tokens,
    saveTokens: (issued) => {
      tokens = issued;
    },
    saveCodeVerifier: (made) => {
      verifier = made;
    },
    codeVerifier: () => verifier,
    redirectToAuthorization: (url) => {
      asked.push(url);
    },
  };
  const options = { authProvider: provider, ...(fetch === undefined ? {} : { fetch }) };
  return { provider, asked, transport: () => new StreamableHTTPClientTransport(new URL(mcp), options) };
}

/** Calls the tool; where the client asks for the person's consent, they give it, and it calls again. @returns its answer, and the page's body */
async function callTool(
  { transport, asked }: Agent,
  browser: ReturnType<typeof testBrowser>,
  call: { name: string; arguments: Record<string, unknown> },
): Promise<{ text: string; consent: string | undefined }> {
  const once = async () => {
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(transport() as Transport);
    try {
      const { content } = await client.callTool(call);
      return (content as Array<{ text: string }>)[0]?.text ?? "";
    } finally {
      await client.close();
    }
  };
  const before = asked.length;
  try {
    return { text: await once(), consent: undefined };
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
  }
  assert.equal(asked.length, before + 1, "the client asks the person once");
  const { code, consent } = await allow(browser, asked.at(-1) as URL);
  await transport().finishAuth(code);
  return { text: await once(), consent };
}

async function allow(browser: ReturnType<typeof testBrowser>, url: URL) {
  let page = await follow(browser, await browser.get(url.href));
  if (showsLogin(page)) page = await logIn(browser, org, page);
  assert.match(page.body, /id="consent-allow"/, page.body);
  const { location = "" } = await browser.post(`${org.issuer}/authorize`, {
    ...page.hidden,
    decision: "allow",
  });
  assert.ok(location.startsWith(`${REDIRECT}?`), location);
  return { code: new URL(location).searchParams.get("code") ?? "", consent: page.body };
}

test("a client with a metadata document signs a person in, and asks again for what a tool needs", async () => {
  const clientMetadataUrl = `https://${host.host}/agent.json`;
  // With a refresh token the SDK's client would use that, which gives no further scope, and never ask the person.
  const document = { redirect_uris: [REDIRECT], grant_types: ["authorization_code"] };
  host.served.set("/agent.json", agentDocument(clientMetadataUrl, document));
  const client = agent({ clientMetadataUrl });
  const browser = testBrowser();
  const listed = await callTool(client, browser, { name: "list_notes", arguments: {} });
  assert.equal(listed.text, "[]");
  assert.match(listed.consent ?? "", new RegExp(`<bdi id="client-host">${host.host}</bdi>`));
  const first = client.asked[0]?.searchParams;
  assert.deepEqual([first?.get("client_id"), first?.get("resource")], [clientMetadataUrl, mcp]);
  assert.doesNotMatch(first?.get("scope") ?? "", /notes:write/);

  const added = await callTool(client, browser, { name: "add_note", arguments: { text: "Milk" } });
  assert.equal(added.text, "Added.");
  assert.match(client.asked[1]?.searchParams.get("scope") ?? "", /notes:read notes:write/);
  const again = await callTool(client, browser, { name: "list_notes", arguments: {} });
  assert.deepEqual([again.text, again.consent], ['["Milk"]', undefined]);
});

test("a client without a document registers itself with the token that it was given", async () => {
  const endpoint = `${org.issuer}/register`;
  const client = agent({
    fetch: (url, init) => {
      if (String(url) !== endpoint) return fetch(url, init);
      const headers = new Headers(init?.headers);
      headers.set("authorization", `Bearer ${initialAccessToken}`);
      return fetch(url, { ...init, headers });
    },
  });
  const { text, consent } = await callTool(client, testBrowser(), { name: "list_notes", arguments: {} });
  assert.match(text, /^\[/);
  assert.match(consent ?? "", /id="client-unreviewed"/);
  assert.doesNotMatch(consent ?? "", /id="client-host"/);
  const information = await client.provider.clientInformation();
  assert.match(information?.client_id ?? "", /^[0-9a-f-]{36}$/);
});

test("without a document and without a token there is no way in", async () => {
  const client = agent();
  await assert.rejects(
    callTool(client, testBrowser(), { name: "list_notes", arguments: {} }),
    (error: Error) => {
      assert.ok(!(error instanceof UnauthorizedError));
      return true;
    },
  );
  assert.deepEqual(client.asked, []);
});

test("a token of another resource is refused by the server", async () => {
  const { accessToken } = await makeApiClient(running.service, org, ["signet:applications:read"]);
  const headers = { authorization: `Bearer ${accessToken}`, "content-type": "application/json" };
  const answer = await fetch(mcp, { method: "POST", headers, body: "{}" });
  assert.equal(answer.status, 401);
  assert.match(answer.headers.get("www-authenticate") ?? "", /resource_metadata="/);
});
