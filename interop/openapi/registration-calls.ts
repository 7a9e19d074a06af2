/** Calls of clients that register themselves: their tokens count for one registration each. */
import { initialAccessTokenSettings } from "../../packages/server/src/core/client-registration/initial-access-token-schemas.ts";
import { createInitialAccessToken } from "../../packages/server/src/core/client-registration/initial-access-tokens.ts";
import { registration } from "../../packages/server/src/testing/fixtures/registration.ts";
import type { TestOrganisation, TestService } from "../../packages/server/src/testing/test-service.ts";
import { bearer, type RealCalls } from "./real-calls.ts";

const metadata = { redirect_uris: ["https://agent.example/callback"] };
const OWN = "/oauth/{org}/register/{clientId}";

export function registrationCalls({ service }: TestService, org: TestOrganisation): RealCalls {
  const initialToken = async () => {
    const settings = initialAccessTokenSettings({}, { now: service.clock(), readTime: () => undefined });
    const act = { orgId: org.organisation.id, actor: "test" };
    return (await createInitialAccessToken(service, { ...act, settings })).token;
  };
  const own = async () => {
    const { body } = await registration("POST", `${org.issuer}/register`, await initialToken(), metadata);
    const clientId = String(body["client_id"]);
    return { path: { clientId }, ...bearer(String(body["registration_access_token"])) };
  };
  return {
    "POST /oauth/{org}/register": async () => ({ ...bearer(await initialToken()), body: metadata }),
    [`GET ${OWN}`]: own,
    [`DELETE ${OWN}`]: own,
    [`PUT ${OWN}`]: async () => {
      const call = await own();
      return { ...call, body: { ...metadata, client_id: call.path.clientId } };
    },
  };
}
