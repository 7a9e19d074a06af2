/** Stores the policy of clients that nobody has registered by hand: one for each organisation. */
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import type { ClientMetadataPolicyTable } from "../../db/tables/applications.ts";
import { type ClientPolicy, defaultPolicy } from "./client-policy.ts";

const select = prepared((db, value: Parameter<{ orgId: string }>) =>
  db.selectFrom("client_metadata_policy").selectAll().where("org_id", "=", value("orgId")),
);

const fromRow = (row: ClientMetadataPolicyTable): ClientPolicy => ({
  orgId: row.org_id,
  mode: row.mode as ClientPolicy["mode"],
  hosts: JSON.parse(row.hosts) as string[],
  allowedScopes: JSON.parse(row.allowed_scopes) as string[],
  allowedResources: JSON.parse(row.allowed_resources) as string[],
  senderConstraint: row.sender_constraint as ClientPolicy["senderConstraint"],
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
});

/** The default where nobody has set one. */
export async function findClientPolicy(db: Db, orgId: string): Promise<ClientPolicy> {
  const [row] = await select(db, { orgId });
  return row ? fromRow(row) : { orgId, ...defaultPolicy, createdAt: null, updatedAt: null, version: 0 };
}

/** The caller has locked the organisation. */
export async function writeClientPolicy(tx: Db, policy: ClientPolicy, now: number): Promise<void> {
  const content = {
    mode: policy.mode,
    hosts: JSON.stringify(policy.hosts),
    allowed_scopes: JSON.stringify(policy.allowedScopes),
    allowed_resources: JSON.stringify(policy.allowedResources),
    sender_constraint: policy.senderConstraint,
    updated_at: now,
    version: policy.version,
  };
  await tx
    .insertInto("client_metadata_policy")
    .values({ org_id: policy.orgId, created_at: policy.createdAt ?? now, ...content })
    .onConflict((conflict) => conflict.column("org_id").doUpdateSet(content))
    .execute();
}
