/** A client of API v1, as an operator makes one. */
import { runSignet } from "./signet-command.ts";
import type { RunningSignet } from "./signet-server.ts";

/** @returns the headers of its calls */
export async function newApiClient(
  { demo, settings, port }: RunningSignet,
  scopes: readonly string[],
): Promise<Record<string, string>> {
  const app = await runSignet(settings, [
    ...["app", "create", "--org", demo.org, "--name", "API", "--type", "confidential"],
    ...["--grant", "client_credentials", ...scopes.flatMap((scope) => ["--scope", scope])],
  ]);
  const body = new URLSearchParams({
    grant_type: "client_credentials",
    scope: scopes.join(" "),
    resource: `http://localhost:${port}/api/v1`,
    client_id: app["clientId"] ?? "",
    client_secret: app["clientSecret"] ?? "",
  });
  const answer = await fetch(`${demo.issuer}/token`, { method: "POST", body });
  const token = (await answer.json()) as { access_token?: string };
  if (token.access_token === undefined) throw new Error(`no access token: ${JSON.stringify(token)}`);
  return { Authorization: `Bearer ${token.access_token}` };
}
