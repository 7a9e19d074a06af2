import { createPublicKey, verify } from "node:crypto";
import type { RequestListener } from "node:http";
import type { BareDatabase } from "./bare-database.ts";
import { readForm, replyJson, signJwt } from "./bare-http.ts";

/** The named work of a row and nothing else: no routing, no client authentication, no checks. */
export type BareWork = "hello" | "sign" | "prove" | "insert" | "exchange" | "refresh" | "introspect";

/** The handler of one work; `database` holds what its requests name. */
export function bareHandler(work: BareWork, database: BareDatabase): RequestListener {
  if (work === "hello") return hello;
  if (work === "sign") return signOne;
  if (work === "prove") return proveOne;
  if (work === "insert") return insertOne(database);
  if (work === "exchange") return exchange(database);
  if (work === "refresh") return refresh(database);
  return introspect(database);
}

const hello: RequestListener = (_request, response) => {
  response.writeHead(200, { "Content-Type": "text/plain", "Content-Length": 5 });
  response.end("hello");
};

/** Client credentials: a form and one asynchronous signature. */
const signOne: RequestListener = (request, response) => {
  readForm(request, async (form) => {
    const token = await signJwt(String(form["client_id"]));
    replyJson(response, { access_token: token, token_type: "Bearer", expires_in: 3600 });
  });
};

/** Client credentials with a proof of possession: a form, a check of the proof by the key in its header, and one signature. */
const proveOne: RequestListener = (request, response) => {
  readForm(request, async (form) => {
    if (!isProven(String(request.headers["dpop"]))) return replyJson(response, undefined);
    const token = await signJwt(String(form["client_id"]));
    replyJson(response, { access_token: token, token_type: "DPoP", expires_in: 3600 });
  });
};

function isProven(proof: string): boolean {
  const end = proof.lastIndexOf(".");
  const { jwk } = JSON.parse(Buffer.from(proof.split(".")[0] ?? "", "base64url").toString());
  const key = { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" } as const;
  const signature = Buffer.from(proof.slice(end + 1), "base64url");
  return verify("sha256", Buffer.from(proof.slice(0, end)), key, signature);
}

/** A pushed authorization request: a form and one durable insert. */
function insertOne(database: BareDatabase): RequestListener {
  return (request, response) => {
    readForm(request, (form) => {
      const value = database.insert(String(form["client_id"]));
      replyJson(response, { request_uri: `urn:ietf:params:oauth:request_uri:${value}`, expires_in: 60 });
    });
  };
}

/** Code exchange: a form, one durable transaction and two signatures at once. */
function exchange(database: BareDatabase): RequestListener {
  return (request, response) => {
    readForm(request, async (form) => {
      const grant = database.replace(String(form["code"]));
      if (grant === undefined) return replyJson(response, undefined);
      const [access, id] = await Promise.all([signJwt(grant.subject), signJwt(grant.subject)]);
      replyJson(response, {
        access_token: access,
        id_token: id,
        refresh_token: grant.next,
        expires_in: 3600,
      });
    });
  };
}

/** Refresh with rotation: a form, one durable transaction and one signature. */
function refresh(database: BareDatabase): RequestListener {
  return (request, response) => {
    readForm(request, async (form) => {
      const grant = database.replace(String(form["refresh_token"]));
      if (grant === undefined) return replyJson(response, undefined);
      const access = await signJwt(grant.subject);
      replyJson(response, { access_token: access, refresh_token: grant.next, expires_in: 3600 });
    });
  };
}

/** Introspection: a form and a point read. */
function introspect(database: BareDatabase): RequestListener {
  return (request, response) => {
    readForm(request, (form) => {
      const subject = database.find(String(form["token"]));
      replyJson(response, subject === undefined ? { active: false } : { active: true, sub: subject });
    });
  };
}
