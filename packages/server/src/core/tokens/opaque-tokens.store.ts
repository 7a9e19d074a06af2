/** Access tokens that only introspection can read: random, with their claims here (RFC 7662 §1). */
import { sha256Base64url } from "@signet/protocol/hash";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import type { RowOf } from "../../db/records.ts";
import type { OpaqueAccessTokenTable } from "../../db/tables/tokens.ts";
import type { AccessTokenClaims } from "./claims.ts";

const insert = prepared((db, value: Parameter<RowOf<OpaqueAccessTokenTable>>) =>
  db.insertInto("opaque_access_token").values({
    ...{ org_id: value("org_id"), token_hash: value("token_hash"), application_id: value("application_id") },
    ...{ claims: value("claims"), expires_at: value("expires_at") },
  }),
);

export async function insertOpaqueToken(
  db: Db,
  { token, claims }: { readonly token: string; readonly claims: AccessTokenClaims },
): Promise<void> {
  await insert(db, {
    ...{ org_id: claims.org_id, token_hash: sha256Base64url(token), application_id: claims.client_id },
    ...{ claims: JSON.stringify(claims), expires_at: claims.exp * 1_000 },
  });
}

const select = prepared((db, value: Parameter<{ orgId: string; hash: string }>) =>
  db
    .selectFrom("opaque_access_token")
    .select("claims")
    .where((eb) => allOf(eb, { org_id: value("orgId"), token_hash: value("hash") })),
);

export async function findOpaqueToken(
  db: Db,
  orgId: string,
  token: string,
): Promise<AccessTokenClaims | undefined> {
  const [row] = await select(db, { orgId, hash: sha256Base64url(token) });
  return row && (JSON.parse(row.claims) as AccessTokenClaims);
}
