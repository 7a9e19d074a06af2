/** An organisation with somebody who administers it, for tests of the console that need no other records. */
import { createUser } from "../core/users/users.ts";
import type { Service } from "../open-service.ts";
import { makeOrganisation, PASSWORD, type TestOrganisation } from "./test-service.ts";

export interface AdministeredOrganisation extends TestOrganisation {
  readonly administrator: TestOrganisation["user"];
}

export async function administeredOrganisation(
  service: Service,
  name: string,
): Promise<AdministeredOrganisation> {
  const org = await makeOrganisation(service, name);
  const email = `admin@${name.toLowerCase()}.example`;
  const id = await createUser(service, {
    organisation: org.organisation,
    email,
    password: PASSWORD,
    firstname: "Ada",
    surname: "Admin",
    role: "Administrator",
    emailVerified: true,
    actor: "test",
  });
  return { ...org, administrator: { id, email, password: PASSWORD } };
}
