/** For organisation-isolation.test.ts: connections of A at B. */
import assert from "node:assert/strict";
import type { Service } from "../../modules/open-service.ts";
import { testBrowser } from "../fakes/browser.ts";
import { newSignInConnection } from "../fixtures/sign-in-connection.ts";
import { visit } from "../fixtures/visit.ts";
import type { TestOrganisation } from "../test-service.ts";

interface ConnectionLoot {
  readonly service: Service;
  readonly a: TestOrganisation;
  readonly b: TestOrganisation;
}
type Probe = (loot: ConnectionLoot) => Promise<void>;

/** Before anybody is sent anywhere, and before anything of the request is believed. */
const isUnknown =
  (end: "start" | "callback"): Probe =>
  async ({ service, a, b }) => {
    const id = await newSignInConnection(service, a.organisation.id);
    const addressAt = async ({ issuer }: TestOrganisation, org: TestOrganisation) => {
      const browser = testBrowser();
      const { flow = "" } = (await visit(browser, org)).hidden;
      return browser.get(`${issuer}/connections/${id}/${end}?flow=${flow}&state=x&code=y`);
    };
    assert.equal((await addressAt(b, b)).status, 404, "A's connection");
    const atHome = await addressAt(a, a);
    assert.match(atHome.body, /id="connection-error"/, "at A it is known");
  };

export const connectionProbes: Readonly<Record<string, Probe>> = {
  "GET /oauth/:org/connections/:id/start": isUnknown("start"),
  "GET /oauth/:org/connections/:id/callback": isUnknown("callback"),
};
