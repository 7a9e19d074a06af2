/** Who can lock whom out of codes by email. */
import { changeOrganisationSettings } from "../../core/organisations/organisations.ts";
import { testBrowser } from "../fakes/browser.ts";
import type { LimitsWorld } from "../fixtures/limits-world.ts";
import { logIn, visit } from "../fixtures/visit.ts";
import { makeOrganisation, type TestOrganisation } from "../test-service.ts";
import { type Outcome, requestEmailCode, signIn } from "./limited-attempts.ts";

interface Played {
  /** What an outsider does; called more often than the limit allows. */
  readonly fill: (time: number) => Promise<Outcome>;
  /** Refused by this limit while it is full. */
  readonly hurt: Readonly<Record<string, () => Promise<Outcome>>>;
  readonly letIn: Readonly<Record<string, () => Promise<Outcome>>>;
}

export type Play = (world: LimitsWorld) => Promise<Played>;

/** An organisation of its own that offers codes by email too. */
async function withEmailCodes({ running: { service } }: LimitsWorld): Promise<TestOrganisation> {
  const org = await makeOrganisation(service);
  const settings = { signInMethods: ["password", "emailCode"] as const };
  await changeOrganisationSettings(service, { orgId: org.organisation.id, settings, actor: "test" });
  return org;
}

export const emailCodePlays = {
  "email-code-source": async (world) => {
    const org = await withEmailCodes(world);
    const [{ email }, here, elsewhere] = [org.user, world.newNetwork(), world.newNetwork()];
    return {
      fill: () => requestEmailCode(org, testBrowser(), email, here),
      hurt: { "the owner, from that network": () => requestEmailCode(org, testBrowser(), email, here) },
      letIn: {
        "the owner, from another network": () => requestEmailCode(org, testBrowser(), email, elsewhere),
        "the owner, by password": () => signIn({ ...world, org: { ...world.org, ...org } }, org.user, here),
        "everybody else of the network": () => requestEmailCode(org, testBrowser(), world.newEmail(), here),
      },
    };
  },
  "email-code-mailbox": async (world) => {
    const org = await withEmailCodes(world);
    const { email } = org.user;
    const known = testBrowser();
    await logIn(known, org, await visit(known, org));
    return {
      fill: () => requestEmailCode(org, testBrowser(), email, world.newNetwork()),
      hurt: {
        "the owner, with a new browser": () =>
          requestEmailCode(org, testBrowser(), email, world.newNetwork()),
      },
      letIn: {
        "the owner, with a browser of before": () => requestEmailCode(org, known, email, world.newNetwork()),
        "everybody else": () => requestEmailCode(org, testBrowser(), world.newEmail(), world.newNetwork()),
      },
    };
  },
} satisfies Record<string, Play>;
