/** Another organisation of the test provider's service, with its own issuer and keys. */
import { type TestKey, testKey } from "./signed-token.ts";
import type { TestProvider } from "./test-provider.ts";

export const SERVER = "https://id.example";
/** That of `ISSUER`. */
export const FIRST = "0197aaaa-0000-7000-8000-000000000001";
export const SECOND = "0197aaaa-0000-7000-8000-000000000002";
export const SECOND_ISSUER = `${SERVER}/oauth/${SECOND}`;

/** @returns its signing key, with the same `kid` as the first's: keys must not be mixed */
export async function addSecondOrganisation({ answers, metadata, userinfo }: TestProvider): Promise<TestKey> {
  const key = await testKey("key-1");
  const own = Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [
      name,
      typeof value === "string" ? value.replace(FIRST, SECOND) : value,
    ]),
  );
  answers.set(`${SECOND_ISSUER}/.well-known/openid-configuration`, () => Response.json(own));
  answers.set(`${SECOND_ISSUER}/jwks`, () => Response.json({ keys: [key.jwk] }));
  answers.set(`${SECOND_ISSUER}/userinfo`, () => Response.json(userinfo));
  return key;
}
