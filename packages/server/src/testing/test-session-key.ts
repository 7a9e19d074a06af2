/** Session keys for tests, without a browser. */
import type { Application } from "../core/applications/application.ts";
import { convertSessionKey, issueSessionKey, validateSessionKey } from "../core/session-keys/session-keys.ts";
import { acrValues } from "../core/sessions/session.ts";
import type { Service } from "../open-service.ts";
import type { TestOrganisation } from "./test-service.ts";

/** A `Service` key of the organisation's user at its web application, unless another one is named; never shown yet. */
export async function makeSessionKey(
  service: Service,
  org: TestOrganisation,
  application: Pick<Application, "id"> = org.web.application,
): Promise<string> {
  const now = service.clock();
  const { secret } = await service.database.transaction((tx) =>
    issueSessionKey(tx, {
      orgId: org.organisation.id,
      applicationId: application.id,
      userId: org.user.id,
      sessionId: null,
      authTime: now,
      amr: ["pwd"],
      acr: acrValues.password,
      address: "192.0.2.1",
      now,
    }),
  );
  return secret;
}

/** @throws when the key is not good any more */
export async function convertedKey(
  service: Service,
  presented: string,
  kind: "UserTemp" | "UserPerm",
): Promise<string> {
  const valid = await validateSessionKey(service, presented);
  if (typeof valid === "string") throw new Error(valid);
  const converted = await convertSessionKey(service, valid, kind, { address: "192.0.2.1" });
  if (!converted) throw new Error("the key ended while it was converted");
  return converted.secret;
}
