/** OpenAPI descriptions of user/consents. */
import Type from "typebox";
import { clientSources } from "../../../core/applications/application.ts";
import {
  type DescribedOperation,
  oauthErrorAnswers,
  problemAnswers,
} from "../../../http/api/described-operation.ts";

const consent = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    clientId: Type.String({ description: "A UUID, or the address of the client's metadata document" }),
    clientName: Type.String({ examples: ["Shop"] }),
    clientSource: Type.Enum([...clientSources], {
      description:
        "How the organisation knows the client: an administrator has registered it, or by its metadata document",
    }),
    scopes: Type.Array(Type.String(), { examples: [["openid", "profile"]] }),
    resources: Type.Array(Type.String(), { description: "Of tokens that have not ended (RFC 8707)" }),
    actors: Type.Array(Type.String(), {
      description: "`client_id` of each client that holds a token exchanged for one of these (RFC 8693)",
    }),
    grantedAt: Type.String({ format: "date-time" }),
    lastUsedAt: Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
      description: "Of the last refresh, or of the last tokens",
    }),
  },
  { title: "GrantedConsent" },
);

const errors = { ...oauthErrorAnswers([400, 401, 403, 500, 503]), ...problemAnswers([404]) };
const shared = { tag: "OAuth", security: [["accessToken"]] } as const;
const forBrowsers = "Without an access token, browsers get a page.";

export const consentsOperations: readonly DescribedOperation[] = [
  {
    ...shared,
    method: "GET",
    path: "/oauth/:org/user/consents",
    operationId: "listUserConsents",
    summary: "List the consents of the token's user for the token's client",
    description: `Requires the scope \`openid\`. ${forBrowsers}`,
    answers: {
      200: { description: "The consents", schema: Type.Object({ items: Type.Array(consent) }) },
      ...errors,
    },
  },
  {
    ...shared,
    method: "POST",
    path: "/oauth/:org/user/consents/:id/revoke",
    operationId: "revokeUserConsent",
    summary: "Revoke a consent for the token's client, and its tokens",
    description: forBrowsers,
    answers: { 204: { description: "Revoked" }, ...errors, ...oauthErrorAnswers([413, 415]) },
  },
];
