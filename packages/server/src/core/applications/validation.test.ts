import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApplicationSettings, defaultSettings } from "./application.ts";
import { InvalidApplication, requireValidApplication } from "./validation.ts";

type ClientType = Parameters<typeof defaultSettings>[0];

function faultsOf(settings: object, clientType: ClientType = "confidential", name = "Shop"): string[] {
  const whole = { ...defaultSettings(clientType), ...settings } as ApplicationSettings;
  try {
    requireValidApplication({ name, clientType, settings: whole });
    return [];
  } catch (error) {
    assert.ok(error instanceof InvalidApplication);
    for (const { path, message } of error.faults) {
      assert.ok(message.length > 3);
      assert.ok(error.message.includes(path));
    }
    return error.faults.map(({ path }) => path);
  }
}

test("the defaults of every client type are valid", () => {
  for (const clientType of ["confidential", "public", "native", "spa"] as const)
    assert.deepEqual(faultsOf({}, clientType), []);
});

test("reports all faults together, each with its path", () => {
  const settings = {
    redirectUris: ["https://good.example/cb", "javascript:alert(1)", "https://a.example/#x"],
    accessTokenLifetimeSeconds: 59,
    allowedScopes: ["openid", "two words"],
    grantTypes: [],
    homepageUri: "ftp://x.example",
    audience: "",
  };
  assert.deepEqual(faultsOf(settings, "confidential", "").sort(), [
    "accessTokenLifetimeSeconds",
    "allowedScopes[1]",
    "audience",
    "grantTypes",
    "homepageUri",
    "name",
    "redirectUris[1]",
    "redirectUris[2]",
  ]);
});

test("a device URI requires tls_client_auth, and must be a URI", () => {
  const tls = { tokenEndpointAuthMethod: "tls_client_auth" };
  const path = ["tlsClientAuthSanUri"];
  for (const settings of [tls, { ...tls, tlsClientAuthSanUri: "https://id.example/oauth/o/devices/d" }])
    assert.deepEqual(faultsOf(settings), []);
  for (const tlsClientAuthSanUri of ["", "x", "a b:c", "urn:\n", `urn:${"x".repeat(2048)}`])
    assert.deepEqual(faultsOf({ ...tls, tlsClientAuthSanUri }), path, tlsClientAuthSanUri.slice(0, 20));
  assert.deepEqual(faultsOf({ tlsClientAuthSanUri: "urn:x:y" }), path);
  assert.deepEqual(faultsOf(tls, "native"), ["tokenEndpointAuthMethod"]);
});

test("at most one certificate name is registered, each in its own form", () => {
  const tls = { tokenEndpointAuthMethod: "tls_client_auth" };
  const right = {
    ...{ tlsClientAuthSubjectDn: "CN=client,O=Example", tlsClientAuthSanDns: "client.example" },
    ...{ tlsClientAuthSanUri: "urn:x:y", tlsClientAuthSanIp: "2001:db8::1" },
    tlsClientAuthSanEmail: "ops@client.example",
  };
  for (const [path, value] of Object.entries(right)) {
    assert.deepEqual(faultsOf({ ...tls, [path]: value }), [], path);
    assert.deepEqual(faultsOf({ [path]: value }), [path], "without tls_client_auth");
    for (const wrong of ["", "*.example:", "a b", "x".repeat(3_000)])
      assert.deepEqual(faultsOf({ ...tls, [path]: wrong }), [path], `${path} ${wrong.slice(0, 20)}`);
    const [other = ""] = Object.keys(right).filter((name) => name !== path);
    const both = { ...tls, [path]: value, [other]: right[other as keyof typeof right] };
    assert.deepEqual(faultsOf(both).sort(), [path, other].sort(), `${path} and ${other}`);
  }
});

test("a name has 1 to 100 characters and none that deceive", () => {
  for (const good of ["x", "Zoë’s shop 🛒", "x".repeat(100), "😀".repeat(100)])
    assert.deepEqual(faultsOf({}, "confidential", good), []);
  for (const bad of ["", "  ", "x".repeat(101), "a\nb", "a\u202eb", "a\u200bb", "a\u2028b", "a\0b"])
    assert.deepEqual(faultsOf({}, "confidential", bad), ["name"], JSON.stringify(bad));
});

test("rejects URLs that could mislead a browser, in all three lists", () => {
  const bad = [
    "http://shop.example/cb",
    "https://user@shop.example/cb",
    "https://shop.example/a/../cb",
    "https://shop.example\\cb",
    "https://*.shop.example/cb",
    "data:text/html,x",
    "/cb",
    "",
    "HTTPS://shop.example/cb",
    `https://shop.example/${"x".repeat(2_100)}`,
  ];
  for (const list of ["redirectUris", "postLogoutRedirectUris", "returnUrls"]) {
    for (const uri of bad) assert.deepEqual(faultsOf({ [list]: [uri] }), [`${list}[0]`], uri);
    const many = Array.from({ length: 51 }, (_, index) => `https://shop.example/${index}`);
    assert.deepEqual(faultsOf({ [list]: many.slice(1) }), []);
    assert.deepEqual(faultsOf({ [list]: many }), [list]);
  }
  const custom = ["com.example.app:/cb"];
  assert.deepEqual(faultsOf({ redirectUris: custom }, "native"), []);
  assert.deepEqual(faultsOf({ redirectUris: custom }), ["redirectUris[0]"]);
});

test("lifetimes are whole seconds within their limits", () => {
  const limits = {
    accessTokenLifetimeSeconds: [60, 86_400],
    refreshTokenLifetimeSeconds: [300, 31_536_000],
    refreshTokenAbsoluteLifetimeSeconds: [300, 31_536_000],
    refreshTokenGraceSeconds: [0, 60],
  } as const;
  for (const [path, [least, most]] of Object.entries(limits)) {
    for (const good of [least, most]) assert.deepEqual(faultsOf({ [path]: good }), [], `${path} ${good}`);
    for (const bad of [
      least - 1,
      most + 1,
      least + 0.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      String(most),
      null,
    ])
      assert.deepEqual(faultsOf({ [path]: bad }), [path], `${path} ${bad}`);
  }
});

test("a client type limits secrets, grants and the PKCE exemption", () => {
  for (const clientType of ["public", "native", "spa"] as const) {
    assert.deepEqual(faultsOf({ tokenEndpointAuthMethod: "client_secret_post" }, clientType), [
      "tokenEndpointAuthMethod",
    ]);
    assert.deepEqual(faultsOf({ grantTypes: ["client_credentials"] }, clientType), ["grantTypes"]);
    assert.deepEqual(faultsOf({ requirePkce: false }, clientType), ["requirePkce"]);
  }
  assert.deepEqual(faultsOf({ tokenEndpointAuthMethod: "none" }), ["tokenEndpointAuthMethod"]);
  assert.deepEqual(faultsOf({ requirePkce: false, grantTypes: ["client_credentials"] }), []);
  for (const grantTypes of [["password"], ["authorization_code", "implicit"]])
    assert.deepEqual(faultsOf({ grantTypes }), ["grantTypes"]);
  assert.deepEqual(faultsOf({ tokenEndpointAuthMethod: "magic" }), ["tokenEndpointAuthMethod"]);
});

test("validates scopes, algorithms, resources and the audience", () => {
  for (const scope of ["", "two words", 'a"b', "a\\b", "é", "a\n"])
    assert.deepEqual(faultsOf({ allowedScopes: [scope] }), ["allowedScopes[0]"], scope);
  assert.deepEqual(faultsOf({ allowedScopes: Array.from({ length: 101 }, (_, at) => `s${at}`) }), [
    "allowedScopes",
  ]);
  for (const path of ["idTokenSignedResponseAlg", "accessTokenSignedResponseAlg"]) {
    for (const alg of ["none", "HS256", "es256", "__proto__", undefined])
      assert.deepEqual(faultsOf({ [path]: alg }), [path], String(alg));
    for (const alg of ["ES256", "RS256", "PS256", "EdDSA"]) assert.deepEqual(faultsOf({ [path]: alg }), []);
  }
  for (const resource of ["https://api.example", "urn:example:b"])
    assert.deepEqual(faultsOf({ allowedResources: [resource] }), []);
  for (const resource of [
    "/relative",
    "",
    "https://api.example/#x",
    `https://api.example/${"x".repeat(2_048)}`,
  ])
    assert.deepEqual(faultsOf({ allowedResources: [resource] }), ["allowedResources[0]"], resource);
  const many = Array.from({ length: 101 }, (_, at) => `urn:example:${at}`);
  assert.deepEqual(faultsOf({ allowedResources: many }), ["allowedResources"]);
  for (const audience of ["https://api.example", "api", undefined])
    assert.deepEqual(faultsOf({ audience }), []);
  for (const audience of ["", " ", "a b", "a\n", "x".repeat(2_049)])
    assert.deepEqual(faultsOf({ audience }), ["audience"], audience);
});
