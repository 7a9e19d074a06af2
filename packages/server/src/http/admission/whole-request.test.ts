import assert from "node:assert/strict";
import { test } from "node:test";
import { wantsPage, wholeRequest } from "./whole-request.ts";

const PATH = "/oauth/01998d6e-0000-7000-8000-00000000000a/token";

const request = (fields: string, body = "a=b", line = `POST ${PATH} HTTP/1.1`) =>
  Buffer.from(`${line}\r\n${fields}\r\n${body}`, "latin1");
const HOST = "Host: a.example:8443\r\n";
const LENGTH = "Content-Length: 3\r\n";

test("one ordinary POST is told with its path and length", () => {
  for (const fields of [
    HOST + LENGTH,
    LENGTH + HOST,
    `${HOST}content-length: 3\r\nConnection: keep-alive\r\nX-Empty:\r\nUser-Agent:  some (thing); 1\t\r\n`,
  ])
    assert.deepEqual(wholeRequest(request(fields)), { path: PATH, length: 3, requestId: undefined }, fields);
});

test("its id is told as it was sent", () => {
  assert.equal(wholeRequest(request(`${HOST}${LENGTH}X-Request-Id: a-1\r\n`))?.requestId, "a-1");
});

test("anything that is less, more, or could be read in another way is left to node:http", () => {
  const odd: Record<string, Buffer> = {
    nothing: Buffer.alloc(0),
    "a GET": request(HOST, "", `GET ${PATH} HTTP/1.1`),
    "HTTP/1.0": request(HOST + LENGTH, "a=b", `POST ${PATH} HTTP/1.0`),
    "an absolute address": request(HOST + LENGTH, "a=b", `POST http://a.example${PATH} HTTP/1.1`),
    "a query": request(HOST + LENGTH, "a=b", `POST ${PATH}?a=b HTTP/1.1`),
    "a part of the head": request(HOST + LENGTH).subarray(0, 60),
    "a part of the body": request(HOST + LENGTH, "a="),
    "a beginning of the next request": request(HOST + LENGTH, "a=bPOST"),
    "two requests": Buffer.concat([request(HOST + LENGTH), request(HOST + LENGTH)]),
    "no length": request(HOST, ""),
    "two lengths": request(HOST + LENGTH + LENGTH),
    "two lengths, one of another spelling": request(`${HOST}${LENGTH}Content-Length : 9\r\n`),
    "a list of lengths": request(`${HOST}Content-Length: 3, 3\r\n`),
    "a signed length": request(`${HOST}Content-Length: +3\r\n`),
    "a hexadecimal length": request(`${HOST}Content-Length: 0x3\r\n`),
    chunks: request(`${HOST}${LENGTH}Transfer-Encoding: chunked\r\n`),
    "chunks, folded": request(`${HOST}${LENGTH}X: a\r\n transfer-encoding: chunked\r\n`),
    "an empty folded line": request(`${HOST}${LENGTH}\tx\r\n`),
    "a bare line feed": request(`${HOST}${LENGTH}X: a\nTransfer-Encoding: chunked\r\n`),
    "a bare carriage return": request(`${HOST}${LENGTH}X: a\rTransfer-Encoding: chunked\r\n`),
    NUL: request(`${HOST}${LENGTH}X: \0\r\n`),
    "bytes beyond ASCII": request(`${HOST}${LENGTH}X: \xe9\r\n`),
    "a field without a name": request(`${HOST}${LENGTH}: x\r\n`),
    "a blank before the colon": request(`${HOST}${LENGTH}Host : a\r\n`),
    "an expectation": request(`${HOST}${LENGTH}Expect: 100-continue\r\n`),
    "an upgrade": request(`${HOST}${LENGTH}Upgrade: h2c\r\n`),
    "a trailer": request(`${HOST}${LENGTH}Trailer: X\r\n`),
    "an end": request(`${HOST}${LENGTH}Connection: close\r\n`),
    "an end among others": request(`${HOST}${LENGTH}Connection: keep-alive, close\r\n`),
    "a blank line first": Buffer.concat([Buffer.from("\r\n"), request(HOST + LENGTH)]),
    "a very long one": request(`${HOST}${LENGTH}X: ${"a".repeat(4_096)}\r\n`),
  };
  for (const [what, bytes] of Object.entries(odd)) assert.equal(wholeRequest(bytes), undefined, what);
});

test("a browser is told by what it accepts", () => {
  assert.ok(wantsPage(request(`${HOST}${LENGTH}Accept: text/html,*/*\r\n`)));
  assert.ok(!wantsPage(request(HOST + LENGTH)));
});
