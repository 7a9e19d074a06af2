/** Trusts of a file. They have no name: those of one kind, issuer, client and subject pattern are alike. */

import type { Trust, TrustSettings } from "../../trusts/trust.ts";
import { type SentTrust, trustSettings } from "../../trusts/trust-schemas.ts";
import { listTrusts } from "../../trusts/trusts.store.ts";
import { changeTrust, createTrust, deleteTrust } from "../../trusts/trusts.ts";
import { requireValidTrust } from "../../trusts/validation.ts";
import { type FileRecord, type Section, textOf, toFileRecord } from "./section.ts";

const settingsOf = ({ kind, ...sent }: FileRecord): TrustSettings =>
  trustSettings(kind as TrustSettings["kind"], sent as SentTrust);

/** The reference stays as it was written until it is resolved. */
const normalised = (item: FileRecord): FileRecord => {
  const { clientId } = item;
  return toFileRecord({ ...settingsOf({ ...item, clientId: null }), clientId });
};

const recordOf = ({ kind, clientId, issuer, jwks, jwksUri, audience, subjectPattern, ...trust }: Trust) =>
  toFileRecord({
    ...{ kind, clientId, issuer, jwks, jwksUri, audience, subjectPattern },
    ...{ claims: trust.claims, singleUse: trust.singleUse, maxLifetimeSeconds: trust.maxLifetimeSeconds },
    ...{ connectionId: trust.connectionId, userBy: trust.userBy, enabled: trust.enabled },
  });

export const trustSection: Section = {
  kind: "trust",
  isUnique: false,
  references: ["clientId"],
  defaults: toFileRecord(trustSettings("workload", {})),
  keyOf: (record) =>
    JSON.stringify(["kind", "issuer", "clientId", "subjectPattern"].map((name) => textOf(record, name))),
  nameOf: (record) => textOf(record, record["subjectPattern"] === undefined ? "issuer" : "subjectPattern"),
  normalise: normalised,
  check: (record) => requireValidTrust(settingsOf(record), ""),
  read: async (db, orgId) =>
    (await listTrusts(db, orgId)).map((trust) => ({ id: trust.id, record: recordOf(trust) })),
  create: (deps, act, record) => createTrust(deps, { ...act, settings: settingsOf(record) }),
  change: (deps, act, id, record) => changeTrust(deps, { ...act, id, change: () => settingsOf(record) }),
  remove: (deps, act, id) => deleteTrust(deps, { ...act, id }),
};
