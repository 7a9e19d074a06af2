/** Files of users in other products' own shapes, with hashes that other code makes: node:crypto, and libxcrypt by perl's crypt(). */
import { argon2Sync, createCipheriv, pbkdf2Sync, randomBytes, scryptSync } from "node:crypto";

/** The password of every user in these files. */
export const MOVED_PASSWORD = "correct horse";
export const BCRYPT = "$2b$10$abcdefghijklmnopqrstuu23JPZtHcGhwXSF41f93o/7vBdDut3Xu";

const pbkdf2 = (digest: string, iterations: number) => {
  const salt = randomBytes(16);
  const value = pbkdf2Sync(MOVED_PASSWORD, salt, iterations, 64, digest).toString("base64");
  return keycloakCredential(
    { value, salt: salt.toString("base64"), additionalParameters: {} },
    {
      hashIterations: iterations,
      algorithm: digest === "sha1" ? "pbkdf2" : `pbkdf2-${digest}`,
      additionalParameters: {},
    },
  );
};

const argon2 = () => {
  const salt = randomBytes(16);
  const hash = argon2Sync("argon2id", {
    ...{ message: MOVED_PASSWORD, nonce: salt, parallelism: 1, tagLength: 32, memory: 7_168, passes: 5 },
  });
  return keycloakCredential(
    { value: hash.toString("base64"), salt: salt.toString("base64"), additionalParameters: {} },
    {
      hashIterations: 5,
      algorithm: "argon2",
      additionalParameters: {
        ...{ hashLength: ["32"], memory: ["7168"], type: ["id"], version: ["1.3"], parallelism: ["1"] },
      },
    },
  );
};

export const keycloakCredential = (secret: object, data: object) => ({
  id: "7a0c9e3c-54f4-4f7b-9d1c-0f9c6f0f1f55",
  type: "password",
  userLabel: "My password",
  createdDate: 1_505_479_392_766,
  secretData: JSON.stringify(secret),
  credentialData: JSON.stringify(data),
});

export const keycloakUser = (email: string, credentials: readonly object[], more: object = {}) => ({
  ...{
    id: "b5f0a9c2-1d2e-4b8c-8b57-6a9f7c4f6d10",
    username: email,
    firstName: "Ada",
    lastName: "Love",
    email,
  },
  ...{ emailVerified: true, createdTimestamp: 1_505_479_373_742, enabled: true, totp: false, credentials },
  ...{
    disableableCredentialTypes: [],
    requiredActions: [],
    realmRoles: ["default-roles-acme"],
    notBefore: 0,
  },
  ...{ groups: [], ...more },
});

export const keycloakExport = () => ({
  id: "acme",
  realm: "acme",
  enabled: true,
  roles: { realm: [{ name: "default-roles-acme" }] },
  users: [
    keycloakUser("sha1@kc.example", [pbkdf2("sha1", 20_000)]),
    keycloakUser("sha256@kc.example", [pbkdf2("sha256", 27_500)]),
    keycloakUser("sha512@kc.example", [
      { id: "x", type: "otp", secretData: '{"value":"JBSWY3DPEHPK3PXP"}', credentialData: '{"digits":6}' },
      pbkdf2("sha512", 21_000),
    ]),
    keycloakUser("argon2@kc.example", [argon2()], { groups: ["/Users"] }),
    keycloakUser("blocked@kc.example", [pbkdf2("sha256", 27_500)], { enabled: false, emailVerified: false }),
    keycloakUser("social@kc.example", [], {
      federatedIdentities: [{ identityProvider: "google", userId: "1", userName: "ada" }],
    }),
    {
      ...{ id: "c1", username: "service-account-api", enabled: true, credentials: [] },
      serviceAccountClientId: "api",
    },
  ],
});

export const auth0Export = (): string => {
  const salt = randomBytes(16);
  const scrypt = scryptSync(MOVED_PASSWORD, salt, 64, { N: 16_384 });
  const pbkdf2Hash = pbkdf2Sync(MOVED_PASSWORD, salt, 100_000, 64, "sha512");
  const plain = (bytes: Buffer) => bytes.toString("base64").replaceAll("=", "");
  return [
    {
      ...{ _id: { $oid: "60425dc43519d90068f82973" }, email_verified: true, email: "bcrypt@a0.example" },
      ...{ passwordHash: BCRYPT, tenant: "acme", connection: "Username-Password-Authentication" },
      ...{ password_set_date: { $date: "2021-03-05T16:34:56.000Z" }, version: "1.1", _tmp_is_unique: true },
    },
    {
      email: "imported@a0.example",
      password_hash: BCRYPT.replace("$2b", "$2a"),
      name: "Ada Augusta Lovelace",
    },
    {
      ...{ email: "scrypt@a0.example", given_name: "Ada", family_name: "Love", blocked: true },
      custom_password_hash: {
        ...{ algorithm: "scrypt", hash: { value: scrypt.toString("hex"), encoding: "hex" } },
        salt: { value: salt.toString("base64"), encoding: "base64" },
        ...{ keylen: 64, cost: 16_384, blockSize: 8, parallelization: 1 },
      },
    },
    {
      email: "pbkdf2@a0.example",
      custom_password_hash: {
        algorithm: "pbkdf2",
        hash: { value: `$pbkdf2-sha512$i=100000,l=64$${plain(salt)}$${plain(pbkdf2Hash)}`, encoding: "utf8" },
      },
    },
  ]
    .map((user) => JSON.stringify(user))
    .join("\n");
};

/** As Firebase's console shows it. */
export const firebaseHashConfig = (signerKey: Buffer): string => `hash_config {
  algorithm: SCRYPT,
  base64_signer_key: ${signerKey.toString("base64")},
  base64_salt_separator: Bw==,
  rounds: 8,
  mem_cost: 14,
}
`;

/** Firebase's algorithm as it is published: scrypt gives the key that encrypts the project's signer key. */
export function firebaseExport(signerKey: Buffer) {
  const salt = randomBytes(10);
  const key = scryptSync(MOVED_PASSWORD, Buffer.concat([salt, Buffer.from([7])]), 64, {
    N: 2 ** 14,
    r: 8,
    p: 1,
  });
  const cipher = createCipheriv("aes-256-ctr", key.subarray(0, 32), Buffer.alloc(16));
  const passwordHash = cipher.update(signerKey).toString("base64");
  const user = (localId: string, more: object) => ({
    ...{
      localId,
      createdAt: "1500000000000",
      lastSignedInAt: "1600000000000",
      providerUserInfo: [],
      ...more,
    },
  });
  const hashed = { passwordHash, salt: salt.toString("base64") };
  return {
    users: [
      user("a1", { email: "ada@fb.example", emailVerified: true, displayName: "Ada Lovelace", ...hashed }),
      user("a2", { email: "off@fb.example", emailVerified: false, disabled: true, ...hashed }),
      user("a3", {
        ...{ email: "google@fb.example", emailVerified: true },
        providerUserInfo: [{ providerId: "google.com", rawId: "1", email: "google@fb.example" }],
      }),
      user("a4", {}),
    ],
  };
}
