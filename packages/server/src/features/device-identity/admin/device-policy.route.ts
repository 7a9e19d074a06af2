/** The attestation policy, as a page and as an API. */
import type { FastifyInstance } from "fastify";
import Type from "typebox";
import { attestationPolicies, ekTrustModes } from "../../../core/devices/device.ts";
import type { Organisation, OrganisationSettings } from "../../../core/organisations/organisation.ts";
import { findOrganisation, lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { apiHandler, type Operation } from "../../../http/api/api-route.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { findLastChange } from "../../../page-kit/actor-names.ts";
import { type EditForm, showEditForm, submitEditForm } from "../../../page-kit/edit-form.ts";
import { listAllowedEks, listRoots } from "../ek-trust/ek-trust.store.ts";
import { displayHash } from "../ek-trust/trust-file.ts";
import { type DevicePolicy, devicePolicyPage, type TrustList } from "./device-policy.page.ts";
import {
  ALSO_BY_PAGES,
  actingFor,
  deviceAdministration,
  inTransaction,
  type ManageDeps,
  managePath,
  pageAndApiRoute,
} from "./page-and-api.ts";

const policyMembers = {
  attestation: Type.Enum([...attestationPolicies]),
  ekTrust: Type.Enum([...ekTrustModes], {
    description: "how TPMs are trusted: by the vendor's certificate chain, the allow list, or both",
  }),
};
const policySchema = Type.Object(policyMembers, { title: "DevicePolicy" });

const readPolicyOperation = {
  ...deviceAdministration,
  method: "GET",
  path: "/devices/manage/:org/policy",
  operationId: "getDevicePolicy",
  summary: "Get the attestation policy",
  description: "Browsers get a page at this address.",
  answers: { 200: { description: "The policy", schema: policySchema } },
} as const satisfies Operation;

const writePolicyOperation = {
  ...deviceAdministration,
  method: "POST",
  path: "/devices/manage/:org/policy",
  operationId: "setDevicePolicy",
  summary: "Change the attestation policy",
  description: `Applies to later enrolments. ${ALSO_BY_PAGES}`,
  body: Type.Object(
    {
      attestation: Type.Optional(policyMembers.attestation),
      ekTrust: Type.Optional(policyMembers.ekTrust),
    },
    { title: "DevicePolicyChange", additionalProperties: false },
  ),
  bodyOptional: false,
  example: { attestation: "required", ekTrust: "chain" },
  errors: [409, 422],
  answers: { 200: { description: "The new policy", schema: policySchema } },
} as const satisfies Operation;

export function devicePolicyRoutes(app: FastifyInstance, deps: ManageDeps): void {
  const { authenticator } = deps.programs;
  const form = policyForm(deps);
  pageAndApiRoute(app, deps, readPolicyOperation, {
    program: apiHandler(authenticator, readPolicyOperation, async ({ caller }) => ({
      status: 200,
      body: policyOf(caller.organisation.settings),
    })),
    page: (_, visit) => showEditForm(deps, visit, form),
  });
  pageAndApiRoute(app, deps, writePolicyOperation, {
    program: apiHandler(authenticator, writePolicyOperation, async ({ caller, body, within }) => {
      const { attestation, ekTrust } = body;
      // Absent members are not written: another administrator may be changing them.
      const settings = {
        ...(attestation === undefined ? {} : { deviceAttestation: attestation }),
        ...(ekTrust === undefined ? {} : { deviceEkTrust: ekTrust }),
      };
      const changed = await changeOrganisationSettings(inTransaction(deps, within), {
        ...actingFor(caller),
        settings,
      });
      return { status: 200, body: policyOf(changed ?? caller.organisation.settings) };
    }),
    page: (_, visit) => submitEditForm(deps, visit, form),
  });
}

const policyOf = ({ deviceAttestation, deviceEkTrust }: OrganisationSettings): DevicePolicy => ({
  attestation: deviceAttestation,
  ekTrust: deviceEkTrust,
});

const policyForm = (deps: ManageDeps): EditForm<ManageDeps, Organisation, DevicePolicy, DevicePolicy> => ({
  current: "devices",
  readOnlyAllowed: true,
  // Not from the cache: another node may have just changed it.
  load: async ({ database }, { organisation }) =>
    (await findOrganisation(database.query, organisation.id)) ?? organisation,
  lock: (tx, { id }) => lockOrganisation(tx, id),
  version: ({ settings }) => policyOf(settings),
  toInput: ({ settings }) => policyOf(settings),
  readInput: ({ values }, { record: { settings } }) => {
    const { attestation, ekTrust } = policyOf(settings);
    return {
      attestation: attestationPolicies.find((one) => one === values.get("attestation")) ?? attestation,
      ekTrust: ekTrustModes.find((one) => one === values.get("ekTrust")) ?? ekTrust,
    };
  },
  toDisplay: ({ attestation, ekTrust }, { messages: { devices } }) => ({
    attestation: devices.policy.attestations[attestation].label,
    ekTrust: devices.policy.ekTrusts[ekTrust].label,
  }),
  page: async (view, { visit: { organisation, request } }) =>
    devicePolicyPage({
      ...view,
      manageUri: (rest) => managePath(organisation, rest),
      isSaved: view.failure === undefined && parseQuery(request).values.get("done") === "saved",
      ...(await trustLists(deps, organisation.id)),
      lastChange: await findLastChange(deps, organisation.id, organisation.id, view.messages),
    }),
  validate: (policy) => ({ content: policy }),
  save: async (within, { attestation, ekTrust }, { visit: { organisation }, acting }) => {
    const settings = { deviceAttestation: attestation, deviceEkTrust: ekTrust };
    await changeOrganisationSettings(within, { ...acting, settings });
    return managePath(organisation, "/policy?done=saved");
  },
});

const MAX_ITEMS = 50;

/** The trusted roots and allowed endorsement keys; CLI commands change them. */
async function trustLists({ database: { query: db } }: ManageDeps, orgId: string) {
  const page = { limit: MAX_ITEMS + 1 };
  const roots = (await listRoots(db, orgId, page)).map(({ subject, fingerprint, notAfter }) => ({
    name: subject,
    fingerprint: displayHash(fingerprint),
    at: notAfter,
  }));
  const eks = (await listAllowedEks(db, orgId, page)).map(({ label, ekHash, createdAt }) => ({
    name: label,
    fingerprint: displayHash(ekHash),
    at: createdAt,
  }));
  const list = (items: TrustList["items"], noun: string, verb: string, file: string): TrustList => ({
    items: items.slice(0, MAX_ITEMS),
    hasMore: items.length > MAX_ITEMS,
    addCommand: `signet ${noun} ${verb} --org ${orgId} ${file}`,
    listCommand: `signet ${noun} list --org ${orgId}`,
  });
  return {
    roots: list(roots, "device-roots", "import", "ROOT.pem"),
    eks: list(eks, "ek-allow", "add", "EK.pem"),
  };
}
