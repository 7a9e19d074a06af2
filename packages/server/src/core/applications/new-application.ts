/** Creates an application together with its first secret. */
import { boundTo } from "../../db/open.ts";
import type { Application } from "./application.ts";
import { type ApplicationDeps, createApplication, type NewApplication } from "./applications.ts";
import { createClientSecret } from "./client-secrets.ts";

/** @returns the plaintext, which is not stored. @throws InvalidApplication naming every fault */
export function createWithSecret(
  deps: ApplicationDeps,
  input: NewApplication & { readonly secretLabel: string },
): Promise<{ application: Application; plaintext: string }> {
  const { orgId, actor, address, secretLabel: label } = input;
  return deps.database.transaction(async (tx) => {
    const inside = { ...deps, database: boundTo(deps.database, tx) };
    const application = await createApplication(inside, input);
    const from = address === undefined ? {} : { address };
    const wanted = { orgId, applicationId: application.id, label, expiresAt: null, actor, ...from };
    const { secret, plaintext } = await createClientSecret(inside, wanted);
    return { application: { ...application, secrets: [secret] }, plaintext };
  });
}
