/** devices/manage/{org}/policy: what is asked of devices, and which TPMs are believed. */
import type { FastifyInstance } from "fastify";
import { attestationPolicies, ekTrustModes } from "../../core/devices/device.ts";
import type { OrganisationSettings } from "../../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../core/organisations/organisations.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import { apiHandler } from "../../http/api/api-route.ts";
import { formOf, queryOf } from "../../http/form-body.ts";
import { devicePolicyPage } from "./device-policy.page.ts";
import { readPolicyOperation, writePolicyOperation } from "./manage-operations.ts";
import {
  actingFor,
  actingOn,
  administratorHere,
  forBoth,
  frameOf,
  goTo,
  inside,
  type ManageDeps,
  managePath,
  navOf,
  provenAdministrator,
  show,
  type Visit,
} from "./manage-visit.ts";
import { trustLists } from "./trust-lists.ts";

type Policy = Pick<OrganisationSettings, "deviceAttestation" | "deviceEkTrust">;

export function devicePolicyRoutes(app: FastifyInstance, deps: ManageDeps): void {
  const { door, strictDoor } = deps.programs;
  forBoth(app, deps, readPolicyOperation, {
    program: apiHandler(door, readPolicyOperation, async ({ caller }) => ({
      status: 200,
      body: recordOf(caller.organisation.settings),
    })),
    page: (visit) => showPage(deps, visit),
  });
  forBoth(app, deps, writePolicyOperation, {
    program: apiHandler(strictDoor, writePolicyOperation, async ({ caller, body, within }) => {
      const { attestation, ekTrust } = body;
      // What is left out is not written: another may be tightening it at this moment.
      const settings = {
        ...(attestation === undefined ? {} : { deviceAttestation: attestation }),
        ...(ekTrust === undefined ? {} : { deviceEkTrust: ekTrust }),
      };
      const changed = await changeOrganisationSettings(inside(deps, within), {
        ...actingFor(caller),
        settings,
      });
      return { status: 200, body: recordOf(changed ?? caller.organisation.settings) };
    }),
    page: (visit) => saveOnPage(deps, visit),
  });
}

const recordOf = ({ deviceAttestation, deviceEkTrust }: Policy) => ({
  attestation: deviceAttestation,
  ekTrust: deviceEkTrust,
});

const policyPath = ({ organisation }: Visit, query = ""): string =>
  managePath(organisation, `/policy${query}`);

async function showPage(deps: ManageDeps, visit: Visit): Promise<void> {
  const signedIn = await administratorHere(deps, visit, policyPath(visit));
  if (signedIn) await showPolicy(deps, visit, signedIn, visit.organisation.settings);
}

async function showPolicy(
  deps: ManageDeps,
  visit: Visit,
  { user }: SignedIn,
  policy: Policy,
  isExpired = false,
): Promise<void> {
  const { organisation, request } = visit;
  const frame = frameOf(visit);
  const page = devicePolicyPage({
    ...frame,
    nav: navOf(visit, "policy"),
    user: { email: user.email },
    isSaved: !isExpired && queryOf(request).values.get("done") === "saved",
    isExpired,
    action: policyPath(visit),
    csrf: deps.door.formBinding(visit).csrf,
    policy: recordOf(policy),
    ...(await trustLists(deps, organisation.id)),
  });
  return show(visit, frame, page, isExpired ? 403 : 200);
}

async function saveOnPage(deps: ManageDeps, visit: Visit): Promise<void> {
  const signedIn = await provenAdministrator(deps, visit, policyPath(visit));
  if (!signedIn) return;
  const { values } = formOf(visit.request);
  const { settings } = visit.organisation;
  const chosen: Policy = {
    deviceAttestation:
      attestationPolicies.find((one) => one === values.get("attestation")) ?? settings.deviceAttestation,
    deviceEkTrust: ekTrustModes.find((one) => one === values.get("ekTrust")) ?? settings.deviceEkTrust,
  };
  if (!deps.door.isOwnForm(visit, values.get("csrf"))) return showPolicy(deps, visit, signedIn, chosen, true);
  await changeOrganisationSettings(deps, { ...actingOn(visit, signedIn), settings: chosen });
  await goTo(visit, policyPath(visit, "?done=saved"));
}
