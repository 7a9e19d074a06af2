/**
 * The guide of an API is followed as its README says: the API starts, a person confirms the code that its first `curl` asks for, and the
 * calls after that have the person's token. The API names them, and refuses every token that is not for it or lacks what a page needs.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { systemPath } from "../../e2e/support/programs.ts";
import { makePerson } from "../../interop/clients/person.ts";
import type { StackService } from "../../interop/clients/stack-service.ts";
import { testBrowser } from "../../packages/server/src/testing/fakes/browser.ts";
import { tokensOf } from "../../packages/server/src/testing/fixtures/visit.ts";
import type { TestOrganisation } from "../../packages/server/src/testing/test-service.ts";
import { confirmCode } from "./device-page.ts";
import { type Guide, timeout, withGuide, withServer } from "./guide.ts";
import type { SetUpGuide } from "./set-up.ts";

type Answer = Readonly<Record<string, unknown>>;

export function followApiGuide({ name, missing, start }: Pick<Guide, "name" | "missing" | "start">): void {
  const title = `guides/${name} is followed from its first command to a call of the API`;
  test(title, { skip: missing, timeout }, () =>
    withGuide({ name }, async (service, at, setUp) => {
      await withServer(name, await start(at, setUp), () =>
        call(service, setUp, `http://localhost:${at.port}`),
      );
    }),
  );
}

async function call(
  { org }: StackService,
  { calls: all, values }: SetUpGuide,
  address: string,
): Promise<void> {
  const known: Record<string, string> = { ...values };
  const answers: Answer[] = [];
  const [authorize, token, ...calls] = all;
  const run = async (line = "") => {
    const answer = await curl(line, known);
    for (const [member, value] of Object.entries(answer)) known[member.toUpperCase()] = String(value);
    return answer;
  };
  const { verification_uri_complete: page } = await run(authorize);
  await confirmCode(makePerson(org), String(page));
  await run(token);
  for (const line of calls) answers.push(await run(line));
  const [me, introspected] = answers;
  assertClaims(org, me);
  assert.deepEqual([introspected?.["active"], introspected?.["roles"]], [true, ["editor"]]);
  for (const path of ["/notes", "/drafts"])
    assert.equal((await ask(address + path, known)).status, 200, path);
  const other = { API: org.web.application.id, API_SECRET: org.web.secret };
  assert.deepEqual(
    await curl(calls.at(-1) ?? "", { ...known, ...other }),
    { active: false },
    "another client",
  );
  const elsewhere = await tokensOf(testBrowser(), org);
  const [head, payload, signature = ""] = (known["ACCESS_TOKEN"] ?? "").split(".");
  const forged = [head, payload, signature.replace(/^./, (sign) => (sign === "A" ? "B" : "A"))].join(".");
  for (const bad of [undefined, known["ID_TOKEN"], forged, "nonsense", elsewhere.accessToken]) {
    const { status, headers } = await ask(`${address}/me`, { ACCESS_TOKEN: bad });
    assert.equal(status, 401, bad);
    assert.match(headers.get("www-authenticate") ?? "", /^Bearer/, bad);
  }
  // What the application may do is the scope's to say, what the person may do the role's.
  const lesser = await run(authorize?.replace(/ roles| notes:read/g, ""));
  await confirmCode(makePerson(org), String(lesser["verification_uri_complete"]));
  await run(token);
  for (const path of ["/notes", "/drafts"]) {
    const { status, headers } = await ask(address + path, known);
    assert.equal(status, 403, path);
    assert.match(headers.get("www-authenticate") ?? "", /^Bearer .*error="insufficient_scope"/, path);
  }
}

const ask = (url: string, { ACCESS_TOKEN }: Readonly<Record<string, string | undefined>>) =>
  fetch(url, ACCESS_TOKEN === undefined ? {} : { headers: { authorization: `Bearer ${ACCESS_TOKEN}` } });

function assertClaims({ organisation, user }: TestOrganisation, me: Answer | undefined): void {
  const org = organisation.id;
  assert.deepEqual(me, { name: "Uma User", email: user.email, roles: ["editor"], org });
}

/** With what the answers before it and the README have named. */
async function curl(line: string, known: Readonly<Record<string, string>>): Promise<Answer> {
  const env = { ...known, PATH: systemPath() };
  const { stdout } = await promisify(execFile)("sh", ["-euc", line], { env });
  const answer = JSON.parse(stdout) as Answer;
  assert.equal(answer["error"] ?? answer["title"], undefined, `${line}: ${stdout}`);
  return answer;
}
