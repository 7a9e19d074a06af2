/** Calls of receivers of shared signals that succeed, each with a stream of its own. */

import { ask } from "../../packages/server/src/testing/ask.ts";
import { tokenFor } from "../../packages/server/src/testing/fixtures/api-client.ts";
import {
  makeClient,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";
import { bearer, type RealCalls } from "./real-calls.ts";

export function ssfCalls({ service }: TestService, org: TestOrganisation): RealCalls {
  const at = "/oauth/{org}/ssf";
  const path = { org: org.organisation.id };
  const receiver = async () => {
    const allowedScopes = ["ssf.read", "ssf.manage"];
    const grantTypes = ["client_credentials"] as const;
    const client = await makeClient(service, org.organisation, { grantTypes, allowedScopes });
    return tokenFor(org, client);
  };
  const streamOf = async (token: string): Promise<string> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const { text } = await ask(`${org.issuer}/ssf/streams`, { method: "POST", headers, body: "{}" });
    return (JSON.parse(text) as { stream_id: string }).stream_id;
  };
  const subject = { format: "iss_sub", iss: org.issuer, sub: org.user.id };
  const withBody =
    (more: object = {}) =>
    async () => {
      const token = await receiver();
      return { ...bearer(token), path, body: { stream_id: await streamOf(token), ...more } };
    };
  const withQuery = async () => {
    const token = await receiver();
    return { ...bearer(token), path, query: { stream_id: await streamOf(token) } };
  };
  return {
    "GET /.well-known/ssf-configuration/oauth/{org}": async () => ({ path }),
    [`POST ${at}/streams`]: async () => ({ ...bearer(await receiver()), path, body: {} }),
    [`GET ${at}/streams`]: withQuery,
    [`PATCH ${at}/streams`]: withBody(),
    [`PUT ${at}/streams`]: withBody(),
    [`DELETE ${at}/streams`]: withQuery,
    [`GET ${at}/status`]: withQuery,
    [`POST ${at}/status`]: withBody({ status: "paused" }),
    [`POST ${at}/subjects/add`]: withBody({ subject }),
    [`POST ${at}/subjects/remove`]: withBody({ subject }),
    [`POST ${at}/verify`]: withBody(),
    [`POST ${at}/streams/{streamId}/poll`]: async () => {
      const token = await receiver();
      const streamId = await streamOf(token);
      return { ...bearer(token), path: { ...path, streamId }, body: { returnImmediately: true } };
    },
  };
}
