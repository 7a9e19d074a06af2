/** Protected resources of a file, by identifier, with the names of their scopes. */
import {
  type ResourceSettings,
  requireValidResource,
  resourceDefaults,
} from "../../protected-resources/protected-resource.ts";
import {
  changeResource,
  createResource,
  deleteResource,
  listResourcesWithScopes,
} from "../../protected-resources/protected-resources.ts";
import { type FileRecord, type Section, textOf, toFileRecord } from "./section.ts";

const SETS = ["scopes", "agentDeniedScopes"];

/** The file's members as the record has them. */
function settingsOf(record: FileRecord): { settings: ResourceSettings; scopes: readonly string[] } {
  const { scopes, accessTokenSignedResponseAlg, ...members } = record;
  const alg = (accessTokenSignedResponseAlg ?? null) as ResourceSettings["accessTokenAlg"];
  const settings = { ...resourceDefaults, ...members, accessTokenAlg: alg } as unknown as ResourceSettings;
  return { settings, scopes: scopes as readonly string[] };
}

const { accessTokenAlg: _, ...defaults } = resourceDefaults;

export const resourceSection: Section = {
  kind: "resource",
  isUnique: true,
  references: ["applicationId"],
  defaults: toFileRecord({ ...defaults, scopes: [] }),
  keyOf: (record) => textOf(record, "identifier"),
  nameOf: (record) => textOf(record, "identifier"),
  normalise: (item) =>
    toFileRecord({ ...defaults, scopes: [], ...item, name: textOf(item, "name").trim() }, SETS),
  // Without this service's own address: that is known where the file is applied.
  check: (record) => requireValidResource(settingsOf(record).settings, "https://invalid"),
  read: async (db, orgId) =>
    (await listResourcesWithScopes(db, orgId)).map((resource) => ({
      id: resource.id,
      record: toFileRecord(
        {
          ...{ identifier: resource.identifier, name: resource.name, enabled: resource.enabled },
          scopes: resource.scopes.map(({ name }) => name),
          accessTokenFormat: resource.accessTokenFormat,
          accessTokenLifetimeSeconds: resource.accessTokenLifetimeSeconds,
          accessTokenSignedResponseAlg: resource.accessTokenAlg,
          ...{ senderConstraint: resource.senderConstraint, applicationId: resource.applicationId },
          agentDeniedScopes: resource.agentDeniedScopes,
        },
        SETS,
      ),
    })),
  create: (deps, act, record) => createResource(deps, { ...act, ...settingsOf(record) }),
  change: (deps, act, id, record) => changeResource(deps, { ...act, id, change: settingsOf(record) }),
  remove: (deps, act, id) => deleteResource(deps, { ...act, id }),
  // A scope belongs to one resource: it leaves this one before it comes to another.
  release: async (deps, act, id, record) => {
    const all = await listResourcesWithScopes(deps.database.query, act.orgId);
    const before = all.find((one) => one.id === id)?.scopes.map(({ name }) => name) ?? [];
    const { scopes: wanted } = settingsOf(record);
    const scopes = before.filter((name) => wanted.includes(name));
    if (scopes.length < before.length)
      await changeResource(deps, { ...act, id, change: { settings: {}, scopes } });
  },
};
