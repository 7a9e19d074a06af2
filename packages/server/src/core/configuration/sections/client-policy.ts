/** The policy of clients with a metadata document: one of each organisation, so its section has no more than one record. */
import { setClientPolicy } from "../../client-metadata/client-policies.ts";
import { findClientPolicy } from "../../client-metadata/client-policy.store.ts";
import {
  type ClientPolicyContent,
  defaultPolicy,
  requireValidPolicy,
  wholePolicy,
} from "../../client-metadata/client-policy.ts";
import { type FileRecord, type Section, toFileRecord } from "./section.ts";

const SETS = ["hosts", "allowedScopes", "allowedResources"];

const contentOf = (record: FileRecord): ClientPolicyContent => wholePolicy(record);
const recordOf = ({ mode, hosts, allowedScopes, allowedResources, senderConstraint }: ClientPolicyContent) =>
  toFileRecord({ mode, hosts, allowedScopes, allowedResources, senderConstraint }, SETS);

export const clientPolicySection: Section = {
  kind: "client-policy",
  isUnique: true,
  references: [],
  defaults: recordOf(defaultPolicy),
  keyOf: () => "",
  nameOf: () => "clients with a metadata document",
  normalise: (item) => recordOf(contentOf(item)),
  check: (record) => requireValidPolicy(contentOf(record), () => true),
  read: async (db, orgId) => {
    const policy = await findClientPolicy(db, orgId);
    return policy.createdAt === null ? [] : [{ id: orgId, record: recordOf(policy) }];
  },
  create: (deps, act, record) => setClientPolicy(deps, { ...act, content: contentOf(record) }),
  change: (deps, act, _, record) => setClientPolicy(deps, { ...act, content: contentOf(record) }),
  remove: (deps, act) => setClientPolicy(deps, { ...act, content: defaultPolicy }),
};
