/** Counts the second factors of a user. */
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import type { FactorOwner, FactorSummary } from "./second-factor.ts";

type OwnerValues = { homeOrgId: string; userId: string };

const countFactors = prepared((db, value: Parameter<OwnerValues>) =>
  db.selectNoFrom((eb) => [
    eb
      .selectFrom("totp_credential")
      .select((query) => query.fn.countAll<number>().as("count"))
      .where((eb) => eb.and({ org_id: value("homeOrgId"), user_id: value("userId") }))
      .as("totp"),
    eb
      .selectFrom("passkey")
      .select((query) => query.fn.countAll<number>().as("count"))
      .where((eb) => eb.and({ org_id: value("homeOrgId"), user_id: value("userId") }))
      .as("passkeys"),
    eb
      .selectFrom("recovery_code")
      .select((query) => query.fn.countAll<number>().as("count"))
      .where((eb) => eb.and({ org_id: value("homeOrgId"), user_id: value("userId") }))
      .where("used_at", "is", null)
      .as("recovery_codes"),
  ]),
);

export async function findFactorSummary(db: Db, { homeOrgId, userId }: FactorOwner): Promise<FactorSummary> {
  const [row] = await countFactors(db, { homeOrgId, userId });
  return {
    hasTotp: (row?.totp ?? 0) > 0,
    passkeys: row?.passkeys ?? 0,
    recoveryCodes: row?.recovery_codes ?? 0,
  };
}
