/** Which organisation is the operators'. */
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";

const selectReserved = prepared((db, value: Parameter<{ singleton: number }>) =>
  db.selectFrom("operators_organisation").select("org_id").where("singleton", "=", value("singleton")),
);

/** @returns undefined before the first operator */
export async function findOperatorsOrganisation(db: Db): Promise<string | undefined> {
  const [row] = await selectReserved(db, { singleton: 1 });
  return row?.org_id;
}

/** @returns false when there is one already */
export async function reserveOrganisation(db: Db, orgId: string): Promise<boolean> {
  const reserved = await db
    .insertInto("operators_organisation")
    .values({ org_id: orgId, singleton: 1 })
    .onConflict((conflict) => conflict.column("singleton").doNothing())
    .returning("org_id")
    .executeTakeFirst();
  return reserved !== undefined;
}
