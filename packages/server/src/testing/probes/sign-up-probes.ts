/** For organisation-isolation.test.ts: A's sign-ups and terms at B. */
import assert from "node:assert/strict";
import { createAction } from "../../core/actions/actions.ts";
import { signUpSubject } from "../../core/actions/user-action.ts";
import { changeOrganisationSettings } from "../../core/organisations/organisations.ts";
import type { Service } from "../../modules/open-service.ts";
import { type TestPage, testBrowser } from "../fakes/browser.ts";
import { PASSWORD, type TestOrganisation } from "../test-service.ts";

interface SignUpLoot {
  readonly service: Service;
  readonly a: TestOrganisation;
  readonly b: TestOrganisation;
  /** A's consent page, with a sign-in of A's in its form. */
  readonly consent: TestPage;
}
type Probe = (loot: SignUpLoot) => Promise<void>;

async function open({ service, a, b }: SignUpLoot, mode: "open" | "off"): Promise<void> {
  for (const { organisation } of [a, b])
    await changeOrganisationSettings(service, {
      ...{ orgId: organisation.id, actor: "test", settings: { signUp: { mode, groups: [] } } },
    });
}

/** While both are open. */
const whileOpen =
  (probe: Probe): Probe =>
  async (loot) => {
    await open(loot, "open");
    await probe(loot);
    await open(loot, "off");
  };

async function linkOf({ service, a }: SignUpLoot): Promise<string> {
  const { id } = await createAction(service.database.query, service, {
    ...{ orgId: a.organisation.id, userId: signUpSubject(), type: "SignUp" },
    data: { email: `new-${crypto.randomUUID()}@acme.example` },
  });
  return id;
}

const flowOf = ({ consent }: SignUpLoot): string => consent.hidden["flow"] ?? "";

export const signUpProbes: Readonly<Record<string, Probe>> = {
  "GET /oauth/:org/sign-up": whileOpen(async (loot) => {
    const page = await testBrowser().get(`${loot.b.issuer}/sign-up?flow=${flowOf(loot)}`);
    assert.equal(page.status, 200);
    assert.doesNotMatch(page.body, /flow=|name="flow"/, "A's sign-in");
  }),
  "POST /oauth/:org/sign-up": whileOpen(async (loot) => {
    const { b, consent } = loot;
    const own = testBrowser();
    const { hidden } = await own.get(`${b.issuer}/sign-up`);
    const sent = await own.post(`${b.issuer}/sign-up`, { ...hidden, flow: flowOf(loot), email: "x" });
    assert.doesNotMatch(sent.body, /flow=|name="flow"/, "A's sign-in");
    const foreign = { ...hidden, csrf: consent.hidden["csrf"] ?? "", email: b.user.email };
    assert.equal((await own.post(`${b.issuer}/sign-up`, foreign)).status, 403, "A's token");
  }),
  "GET /oauth/:org/sign-up/:id": whileOpen(async (loot) => {
    const id = await linkOf(loot);
    assert.equal((await testBrowser().get(`${loot.b.issuer}/sign-up/${id}`)).status, 404, "A's link");
    assert.equal((await testBrowser().get(`${loot.a.issuer}/sign-up/${id}`)).status, 200, "at A it opens");
  }),
  "POST /oauth/:org/sign-up/:id": whileOpen(async (loot) => {
    const id = await linkOf(loot);
    const own = testBrowser();
    const { hidden } = await own.get(`${loot.b.issuer}/sign-up`);
    const typed = { firstname: "Mallory", surname: "Moe", password: PASSWORD };
    const sent = await own.post(`${loot.b.issuer}/sign-up/${id}`, { ...hidden, ...typed });
    assert.equal(sent.status, 404, "A's link");
    assert.equal(
      (await testBrowser().get(`${loot.a.issuer}/sign-up/${id}`)).status,
      200,
      "it is not used up",
    );
  }),
  "GET /oauth/:org/terms": async (loot) => {
    const page = await testBrowser().get(`${loot.b.issuer}/terms?flow=${flowOf(loot)}`);
    assert.equal(page.status, 400, "A's sign-in");
  },
  "POST /oauth/:org/terms": async (loot) => {
    const form = { ...loot.consent.hidden, decision: "accept" };
    assert.equal((await testBrowser().post(`${loot.b.issuer}/terms`, form)).status, 400, "A's sign-in");
  },
};
