import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import type { FactorOwner, FactorSummary } from "./second-factor.ts";

type OwnerValues = { homeOrgId: string; userId: string };

const countFactors = prepared((db, value: Parameter<OwnerValues>) =>
  db.selectNoFrom((eb) => [
    eb
      .selectFrom("totp_credential")
      .select((one) => one.fn.countAll<number>().as("count"))
      .where("org_id", "=", value("homeOrgId"))
      .where("user_id", "=", value("userId"))
      .as("totp"),
    eb
      .selectFrom("passkey")
      .select((one) => one.fn.countAll<number>().as("count"))
      .where("org_id", "=", value("homeOrgId"))
      .where("user_id", "=", value("userId"))
      .as("passkeys"),
    eb
      .selectFrom("recovery_code")
      .select((one) => one.fn.countAll<number>().as("count"))
      .where("org_id", "=", value("homeOrgId"))
      .where("user_id", "=", value("userId"))
      .where("used_at", "is", null)
      .as("recovery_codes"),
  ]),
);

/** What the user has, without any of its secrets. */
export async function findFactorSummary(db: Db, { homeOrgId, userId }: FactorOwner): Promise<FactorSummary> {
  const [row] = await countFactors(db, { homeOrgId, userId });
  return {
    hasTotp: (row?.totp ?? 0) > 0,
    passkeys: row?.passkeys ?? 0,
    recoveryCodes: row?.recovery_codes ?? 0,
  };
}
