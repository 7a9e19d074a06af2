/** devices/manage/{org}/policy: what is asked of devices, and which TPMs are believed. */
import type { FastifyInstance } from "fastify";
import { lastChangeOf } from "../../console/actor-names.ts";
import { consoleFrame } from "../../console/console-frame.ts";
import { ChangedMeanwhile, requireSeen, seenOf, submission } from "../../console/submission.ts";
import { actingOn, administratorHere, goTo, show, type Visit } from "../../console/visit.ts";
import { attestationPolicies, ekTrustModes } from "../../core/devices/device.ts";
import type { Organisation, OrganisationSettings } from "../../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../core/organisations/organisations.ts";
import { findOrganisation } from "../../core/organisations/store.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import { differing } from "../../html/console/form-state.ts";
import type { FormFailure } from "../../html/console/record-form.ts";
import type { Messages } from "../../html/messages/messages.ts";
import { copyScript } from "../../html/scripts.ts";
import { apiHandler } from "../../http/api/api-route.ts";
import { formOf, queryOf } from "../../http/form-body.ts";
import { devicePolicyPage } from "./device-policy.page.ts";
import { readPolicyOperation, writePolicyOperation } from "./manage-operations.ts";
import { actingFor, forBoth, inside, type ManageDeps, managePath, manageTabs } from "./manage-visit.ts";
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

/** Not the cached one: another node may have changed it a moment ago. */
async function policyNow({ database }: ManageDeps, { organisation }: Visit): Promise<Policy> {
  return (await findOrganisation(database.query, organisation.id))?.settings ?? organisation.settings;
}

async function showPage(deps: ManageDeps, visit: Visit): Promise<void> {
  const signedIn = await administratorHere(deps, visit, policyPath(visit));
  if (signedIn) await showPolicy(deps, visit, signedIn, { chosen: await policyNow(deps, visit) });
}

interface PolicyShown {
  readonly chosen: Policy;
  readonly failure?: FormFailure;
  /** As the form had it. */
  readonly seen?: string | undefined;
  readonly status?: number;
}

async function showPolicy(
  deps: ManageDeps,
  visit: Visit,
  signedIn: SignedIn,
  { chosen, failure, seen, status }: PolicyShown,
): Promise<void> {
  const { organisation, request } = visit;
  const frame = await consoleFrame(deps, visit, signedIn, "devices");
  const { messages } = frame;
  const now = await policyNow(deps, visit);
  const lastChange = await lastChangeOf(deps, organisation.id, organisation.id, messages);
  const isChanged = failure?.kind === "changed";
  const page = devicePolicyPage({
    ...frame,
    tabs: manageTabs(organisation, "policy", messages),
    isSaved: failure === undefined && queryOf(request).values.get("done") === "saved",
    failure: isChanged ? { kind: "changed", by: lastChange } : failure,
    state: isChanged ? { isNow: differing(inWords(chosen, messages), inWords(now, messages)) } : {},
    action: policyPath(visit),
    csrf: deps.door.formBinding(visit).csrf,
    seen: seen ?? seenOf(recordOf(now)),
    policy: recordOf(chosen),
    ...(await trustLists(deps, organisation.id)),
    lastChange,
    script: copyScript.path,
  });
  await show(visit, frame, page, status);
}

const inWords = (policy: Policy, { devices: { policy: text } }: Messages): Record<string, string> => ({
  attestation: text.attestations[policy.deviceAttestation].label,
  ekTrust: text.ekTrusts[policy.deviceEkTrust].label,
});

async function saveOnPage(deps: ManageDeps, visit: Visit): Promise<void> {
  const { values } = formOf(visit.request);
  const { settings } = visit.organisation;
  const chosen: Policy = {
    deviceAttestation:
      attestationPolicies.find((one) => one === values.get("attestation")) ?? settings.deviceAttestation,
    deviceEkTrust: ekTrustModes.find((one) => one === values.get("ekTrust")) ?? settings.deviceEkTrust,
  };
  const seen = values.get("seen");
  const sent = await submission(deps, visit, policyPath(visit), ({ signedIn }) =>
    showPolicy(deps, visit, signedIn, { chosen, seen, failure: { kind: "expired" }, status: 403 }),
  );
  if (!sent) return;
  const isSaved = await changeOrganisationSettings(deps, {
    ...actingOn(visit, sent.signedIn),
    settings: ({ settings: before }: Organisation) => {
      requireSeen(seen, recordOf(before));
      return chosen;
    },
  }).then(
    () => true,
    (error: unknown) => {
      if (!(error instanceof ChangedMeanwhile)) throw error;
      return false;
    },
  );
  if (isSaved) return goTo(visit, policyPath(visit, "?done=saved"));
  await showPolicy(deps, visit, sent.signedIn, { chosen, failure: { kind: "changed" }, status: 409 });
}
