/** What a developer pastes: where the server is, who can sign in, and the `.env` lines of each application. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { AppliedApplication, AppliedOrganisation } from "./apply-document.ts";

export function pasteLines(
  organisations: readonly AppliedOrganisation[],
  baseUrl: string,
): readonly string[] {
  return [
    "",
    `Start page   ${baseUrl}/`,
    `Mailbox      ${baseUrl}/demo/mailbox`,
    ...organisations.flatMap((organisation) => organisationLines(organisation, baseUrl)),
    "",
  ];
}

function organisationLines(
  { id, name, issuer, users, applications }: AppliedOrganisation,
  baseUrl: string,
): string[] {
  const width = Math.max(0, ...users.map(({ email }) => email.length));
  return [
    "",
    name,
    `  Issuer     ${issuer}`,
    `  Console    ${baseUrl}/oauth/manage/${id}`,
    ...users.map(({ email, password }) => `  User       ${email.padEnd(width)}  ${password}`),
    ...applications.flatMap((application) => [
      "",
      `  # ${application.name}: .env`,
      ...environmentLines(application, issuer),
    ]),
  ];
}

function environmentLines(application: AppliedApplication, issuer: string): string[] {
  const { clientId, clientType, clientSecret, url, audience } = application;
  if (clientType === "spa") return [`  VITE_SIGNET_ISSUER=${issuer}`, `  VITE_SIGNET_CLIENT_ID=${clientId}`];
  return [
    ...(url === undefined ? [] : ["  SIGNET_FILTER_TYPE=OAuthFederated"]),
    `  SIGNET_ISSUER=${issuer}`,
    `  SIGNET_CLIENT_ID=${clientId}`,
    ...(clientSecret === undefined ? [] : [`  SIGNET_CLIENT_SECRET=${clientSecret}`]),
    ...(audience === undefined ? [] : [`  SIGNET_AUDIENCE=${audience}`]),
    ...(url === undefined
      ? []
      : [`  SIGNET_BASE_URL=${url}`, `  SIGNET_COOKIE_SECRETS=${cookieSecretOf(clientSecret ?? clientId)}`]),
  ];
}

/** The same at every start, so that a session outlives it: in development alone. */
const cookieSecretOf = (secret: string): string => sha256Base64url(`cookies ${secret}`);
