import assert from "node:assert/strict";
import { test } from "node:test";
import { grantTypes } from "../applications/application.ts";
import { FILE_FORMAT, InvalidFile, MAX_APPLICATIONS, MAX_FILE_BYTES } from "./organisation-file.ts";
import { MAX_FAULTS, readOrganisationFile } from "./validation.ts";

const bytes = (text: string) => Buffer.from(text);
const file = (parts: object) => bytes(JSON.stringify({ format: FILE_FORMAT, ...parts }));
const shop = { name: "Shop", clientType: "confidential" };
const withApp = (members: object) => file({ applications: [{ ...shop, ...members }] });
const withScope = (members: object) => file({ scopes: [{ name: "payroll", ...members }] });

/** `path: message` of every fault. */
function faultsOf(content: Uint8Array): string[] {
  try {
    readOrganisationFile(content);
  } catch (error) {
    assert.ok(error instanceof InvalidFile, String(error));
    return error.faults.map(({ path, message }) => `${path}: ${message}`);
  }
  return [];
}

const pathsOf = (content: Uint8Array): string[] =>
  faultsOf(content).map((fault) => fault.split(": ")[0] ?? "");

test("requires the format, and reads nothing else of another one", () => {
  for (const value of [{}, { format: "signet-organisation/2", wrong: 1 }, { format: 1 }, [], null, "x"])
    assert.deepEqual(faultsOf(bytes(JSON.stringify(value))), [
      `/format: must be "${FILE_FORMAT}", the format of this version`,
    ]);
  assert.deepEqual(readOrganisationFile(file({})), { format: FILE_FORMAT });
  assert.deepEqual(readOrganisationFile(bytes(`\ufeff{"format": "${FILE_FORMAT}"}`)), {
    format: FILE_FORMAT,
  });
});

test("rejects non-JSON and oversized files first", () => {
  assert.match(faultsOf(bytes("{"))[0] ?? "", /^: is not JSON/);
  assert.match(faultsOf(Uint8Array.of(0x22, 0xff, 0x22))[0] ?? "", /is not UTF-8/);
  assert.match(faultsOf(Buffer.alloc(MAX_FILE_BYTES + 1, 0x20))[0] ?? "", /is larger than 8 MiB/);
  const deep = `{"format":"${FILE_FORMAT}","x":${"[".repeat(40)}${"]".repeat(40)}}`;
  assert.match(faultsOf(bytes(deep))[0] ?? "", /nested deeper than 32 levels/);
  const many = Array.from({ length: MAX_APPLICATIONS + 1 }, () => ({}));
  assert.deepEqual(pathsOf(file({ applications: many })), ["/applications"]);
});

test("a list that is far too long is refused as a whole: eight megabytes of it would stop the service for minutes", () => {
  const many = Array.from({ length: 101 }, (_, index) => `s${index}`);
  const tooMany = "must have at most 100 items";
  const claims = many.map((name) => ({ name, source: "static", value: "x" }));
  assert.deepEqual(faultsOf(withScope({ claims })), [`/scopes/0/claims: ${tooMany}`]);
  for (const member of ["allowedScopes", "redirectUris", "organisationConsent", "grantTypes"])
    assert.deepEqual(faultsOf(withApp({ [member]: many })), [`/applications/0/${member}: ${tooMany}`]);
  assert.deepEqual(faultsOf(withApp({ preauthorizations: [many] })), [
    `/applications/0/preauthorizations/0: ${tooMany}`,
  ]);
  const signInTexts = Object.fromEntries(many.map((name) => [name, {}]));
  assert.deepEqual(faultsOf(file({ branding: { signInTexts } })), [
    "/branding/signInTexts: must be an object of at most 100 languages",
  ]);
  const jwk = Object.fromEntries(many.map((name) => [name, ""]));
  assert.deepEqual(faultsOf(withApp({ jwks: { keys: [jwk] } })), [
    "/applications/0/jwks/keys/0: must be an object",
  ]);
  const unknown = Object.fromEntries(Array.from({ length: MAX_FAULTS + 1 }, (_, index) => [`m${index}`, 1]));
  assert.equal(faultsOf(file(unknown)).length, MAX_FAULTS);
});

test("rejects duplicate members at any depth", () => {
  const text = `{"format":"${FILE_FORMAT}","applications":[{"name":"A, \\"{[","clientType":"spa"},
    {"name":"B","clientType":"spa","jwks":{"keys":[{"a/b":1,"c":[{"d":2}],"a\\u002fb":3}]},"name":"C"}],"format":"x"}`;
  assert.deepEqual(faultsOf(bytes(text)), [
    "/applications/1/jwks/keys/0/a~1b: is a duplicate",
    "/applications/1/name: is a duplicate",
    "/format: is a duplicate",
  ]);
});

test("rejects unknown members by name: secrets don't belong in a file", () => {
  const content = file({
    users: [],
    branding: { colour: "red" },
    policies: { strict: true },
    scopes: [{ name: "a", claims: [{ name: "b", source: "static", value: 1, extra: 1 }] }],
    applications: [
      { ...shop, clientSecret: "sgn_cs_x", secrets: [], requireConsent: true, "a/b~c": 1 },
      JSON.parse('{"name":"X","clientType":"spa","__proto__":{"enabled":false}}'),
    ],
  });
  assert.deepEqual(
    faultsOf(content).map((fault) => fault.replace(/: is unknown$/, "")),
    [
      "/users",
      "/branding/colour",
      "/policies/strict",
      "/scopes/0/claims/0/extra",
      "/applications/0/clientSecret",
      "/applications/0/secrets",
      "/applications/0/requireConsent",
      "/applications/0/a~1b~0c",
      "/applications/1/__proto__",
    ],
  );
});

test("reports every malformed member in plain words", () => {
  const wrong = Array.from({ length: 30 }, () => ({ name: 1, clientType: "server", enabled: "yes" }));
  assert.equal(faultsOf(file({ applications: wrong })).length, 90);
  const content = file({
    branding: { accentColor: "blue", logoUri: 1 },
    policies: {
      passwordMinLength: 7,
      sessionIdleSeconds: 1.5,
      secondFactor: "maybe",
      requireVerifiedEmail: 1,
    },
    scopes: [{}, null],
    applications: [
      {
        name: null,
        clientType: "spa",
        redirectUris: "x",
        grantTypes: ["password"],
        jwks: { keys: [1] },
        id: "x",
      },
      { ...shop, externalKey: "a b", organisationConsent: [1], preauthorizations: ["openid"] },
    ],
  });
  assert.deepEqual(faultsOf(content), [
    "/branding/accentColor: must be a colour like #2f4fd8",
    "/branding/logoUri: must be a string",
    "/policies/passwordMinLength: must be an integer from 8 to 128",
    "/policies/sessionIdleSeconds: must be an integer from 60 to 31536000",
    "/policies/secondFactor: must be one of optional, required",
    "/policies/requireVerifiedEmail: must be true or false",
    "/scopes/0/name: is required",
    "/scopes/1: must be an object",
    "/applications/0/name: must be a string",
    "/applications/0/redirectUris: must be a list",
    `/applications/0/grantTypes/0: must be one of ${grantTypes.join(", ")}`,
    "/applications/0/jwks/keys/0: must be an object",
    "/applications/0/id: must be a UUID",
    "/applications/1/externalKey: must be 1 to 100 of A-Z a-z 0-9 . _ - and begin with a letter or digit",
    "/applications/1/organisationConsent/0: must be a string",
    "/applications/1/preauthorizations/0: must be a list",
  ]);
});

test("validates well-formed records beside malformed ones", () => {
  const content = file({
    scopes: [{ name: "openid" }, { name: 1 }],
    applications: [
      { name: 1, clientType: "spa" },
      { ...shop, accessTokenLifetimeSeconds: 1 },
    ],
  });
  assert.deepEqual(pathsOf(content), [
    "/scopes/1/name",
    "/applications/0/name",
    "/scopes/0/name",
    "/applications/1/accessTokenLifetimeSeconds",
  ]);
});

test("reports the core's faults with their path in the file", () => {
  const { d: _d, ...rest } = { kty: "EC", crv: "P-256", x: "x", y: "y", d: "d" };
  const content = withApp({
    name: "a\u202eb",
    redirectUris: ["https://z.example/", "javascript:alert(1)", "https://a.example/"],
    logoUri: "ftp://a",
    allowedScopes: ["openid", "a b"],
    tokenEndpointAuthMethod: "private_key_jwt",
    jwks: { keys: [{ ...rest, d: "private" }] },
    refreshTokenGraceSeconds: 61,
    backchannelLogoutUri: "http://logout.example/",
  });
  assert.deepEqual(pathsOf(content), [
    "/applications/0/name",
    "/applications/0/redirectUris/1",
    "/applications/0/logoUri",
    "/applications/0/allowedScopes/1",
    "/applications/0/refreshTokenGraceSeconds",
    "/applications/0/jwks/keys/0",
    "/applications/0/backchannelLogoutUri",
  ]);
  assert.deepEqual(
    pathsOf(
      withScope({
        claims: [
          { name: "zeta", source: "user", path: "email" },
          { name: "sub", source: "user", path: "email" },
        ],
      }),
    ),
    ["/scopes/0/claims/1/name"],
  );
  assert.deepEqual(pathsOf(withApp({ clientType: "spa", tokenEndpointAuthMethod: "client_secret_post" })), [
    "/applications/0/tokenEndpointAuthMethod",
  ]);
});

test("rejects contradicting policies and an invalid logo URL", () => {
  assert.deepEqual(pathsOf(file({ policies: { sessionLifetimeSeconds: 600, sessionIdleSeconds: 601 } })), [
    "/policies/sessionIdleSeconds",
  ]);
  assert.deepEqual(pathsOf(file({ branding: { logoUri: "javascript:1" } })), ["/branding/logoUri"]);
  assert.deepEqual(pathsOf(file({ branding: { helpUri: "javascript:1" } })), ["/branding/helpUri"]);
  const signInTexts = { en: { heading: "x".repeat(81) }, "en-GB": { text: "x" }, de: { heading: "a\nb" } };
  assert.deepEqual(pathsOf(file({ branding: { signInTexts } })), [
    "/branding/signInTexts/en/heading",
    "/branding/signInTexts/en-GB",
    "/branding/signInTexts/de/heading",
  ]);
});

test("a claim has either a value or a path, as its source requires", () => {
  const claims = [
    { name: "a", source: "static", value: 1, path: "email" },
    { name: "b", source: "user", path: "email", value: 1 },
    { name: "c", source: "static" },
    { name: "d", source: "membership" },
  ];
  assert.deepEqual(pathsOf(withScope({ claims })), [
    "/scopes/0/claims/0/path",
    "/scopes/0/claims/1/value",
    "/scopes/0/claims/2/value",
    "/scopes/0/claims/3/path",
  ]);
});

test("rejects grants for scopes that the application may not request", () => {
  const content = withApp({
    allowedScopes: ["openid", "email"],
    organisationConsent: ["openid", "phone"],
    preauthorizations: [["openid", "email"], [], ["email", "openid"], ["profile"]],
  });
  assert.deepEqual(pathsOf(content), [
    "/applications/0/organisationConsent/1",
    "/applications/0/preauthorizations/1",
    "/applications/0/preauthorizations/3/0",
    "/applications/0/preauthorizations/2",
  ]);
});

test("rejects records with the same id, key or scope name", () => {
  const id = "01998D6E-0000-7000-8000-000000000000";
  const content = file({
    scopes: [{ name: "a" }, { name: "b" }, { name: "a" }],
    applications: [
      { ...shop, id, externalKey: "k" },
      { ...shop, id: id.toLowerCase() },
      { ...shop, externalKey: "k" },
    ],
  });
  assert.deepEqual(faultsOf(content), [
    "/scopes/2/name: is also used by /scopes/0",
    "/applications/1/id: is also used by /applications/0",
    "/applications/2/externalKey: is also used by /applications/0",
  ]);
});
