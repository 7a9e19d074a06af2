import { generateKeyPairSync, sign } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type ParsedUrlQuery, parse } from "node:querystring";

/** Reads a form to its end and hands it on. */
export function readForm(request: IncomingMessage, onForm: (form: ParsedUrlQuery) => unknown): void {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => {
    body += chunk;
  });
  request.on("end", () => onForm(parse(body)));
}

/** Answers with JSON; 400 instead of 200 when there is nothing to say. */
export function replyJson(response: ServerResponse, value: object | undefined): void {
  const body = JSON.stringify(value ?? { error: "invalid_grant" });
  response.writeHead(value === undefined ? 400 : 200, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
  });
  response.end(body);
}

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const head = Buffer.from(JSON.stringify({ alg: "ES256", typ: "at+jwt", kid: "bare" })).toString("base64url");

/** A JWT, signed with ES256 on the thread pool: the bare cost of a token. */
export function signJwt(subject: string): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const claims = {
    iss: "http://localhost",
    sub: subject,
    aud: "bench",
    iat,
    exp: iat + 3600,
    scope: "openid",
  };
  const input = `${head}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  return new Promise((resolve, reject) => {
    sign("sha256", Buffer.from(input), { key: privateKey, dsaEncoding: "ieee-p1363" }, (fault, signature) => {
      if (fault) reject(fault);
      else resolve(`${input}.${signature.toString("base64url")}`);
    });
  });
}
